package kept

import (
	"slices"

	"github.com/accrete-ml/accrete/learn"
)

// Rowless tells a learner that can to keep no rows, unless it was told what to keep:
// for models inside of others, which are never updated themselves.
func Rowless(l learn.Learner, told map[string]string) error {
	for _, o := range learn.Options(l) {
		word, has := map[string]string{"keep": "nothing", "update": "none"}[o.Key]
		if _, given := told[o.Key]; has && !given && slices.Contains(o.Choices, word) {
			if err := learn.Set(l, o.Key, word); err != nil {
				return err
			}
		}
	}
	return nil
}
