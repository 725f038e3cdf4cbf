package reproduce

import (
	"context"
	"math/rand/v2"

	"github.com/accrete-ml/accrete/datasets"
)

// overfitting is what growing a tree until it is right costs on rows with noise:
// of five tasks, by how many per cent of the accuracy of a tree that was cut back by
// cross-validation the whole tree is less often right (Mingers 1989b, whose five
// tasks are not at hand).
func overfitting() []Experiment {
	tasks := []string{"led:rows=450,noise=0.2,seed=7", "breast-cancer-ljubljana", "haberman", "pima", "postoperative"}
	return []Experiment{{
		Name: "overfitting-five-tasks", Tags: append(chapter(3), "mingers"), Source: mitchell("section 3.7.1 (Mingers 1989b)"),
		Measure: "accuracy in % that ID3 loses on five tasks with noise because its tree is not cut back, the mean of all five",
		Figure:  printed(10).percent().higher(), Seeds: 30, Beyond: OtherData,
		Why: "published is 10 to 25 % on most of five other tasks",
		Run: OverSeeds(func(ctx context.Context, seed uint64) (float64, error) {
			lost := 0.0
			for _, task := range tasks {
				t, set, err := datasets.Load(ctx, task)
				if err != nil {
					return 0, err
				}
				n := 2 * t.Rows() / 3
				rows := rand.New(rand.NewPCG(seed, 37)).Perm(t.Rows())
				c := &corpus{t.Select(rows[:n]), t.Select(rows[n:]), t.Schema.Index(set.Target)}
				whole, err := c.accuracy(ctx, "tree", map[string]string{"preset": "id3"})
				if err != nil {
					return 0, err
				}
				cut, err := c.accuracy(ctx, "tree", map[string]string{"preset": "id3", "prune": "cv"})
				if err != nil {
					return 0, err
				}
				lost += 100 * (cut - whole) / cut / float64(len(tasks))
			}
			return lost, nil
		}),
	}}
}
