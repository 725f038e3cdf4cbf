package ensemble

import (
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/kept"
	"github.com/accrete-ml/accrete/table"
)

// session is what one session brought: members, and the rows kept of it.
type session struct {
	number  int // from 1
	source  learn.Source
	weight  float64 // of all its rows
	members []member
	kept    *kept.Rows   // its own rows that are kept; their schema is the session's
	rows    *table.Table // the same
	then    float64      // weight of the kept rows that the model got right when the session ended
	facts   Session
	losses  [len(sharpnesses)]float64
}

// enrol gives a session the members that were trained in it.
func (s *session) enrol(members []member) {
	s.members = members
	for i := range members {
		members[i].number = i + 1
	}
}

// member is a model h_t with its vote, log(1/β_t), and the classes that it
// has seen; in a pool, with its vote and its share of the probabilities.
type member struct {
	model learn.Model
	vote  float64
	seen  []string
	share float64

	number int    // in its session, from 1
	saved  []byte // its saved form, if it was read
}
