package learn

// Contract is the promise that an update makes.
type Contract uint8

// The contracts.
const (
	None    Contract = iota // no promise, or no updates at all
	Bounded                 // close to learning everything at once; Promise says how close
	Exact                   // equal to learning everything at once
)

// String returns "none", "bounded" or "exact".
func (c Contract) String() string { return [...]string{"none", "bounded", "exact"}[c] }

// Promise is what a model that learns more rows promises, compared with
// learning everything at once. Settings change it, so it is the model's.
type Promise struct {
	Contract Contract
	// Measure and Bound say how close a bounded contract is.
	Measure Measure
	Bound   float64
}

// Measure is how two models are compared on the rows that they learnt.
type Measure string

// The measures.
const (
	// MaxDifference is the largest difference between two answers: of
	// probabilities, or of numbers relative to their size.
	MaxDifference Measure = "max_difference"
	// LogLoss is by how many nats a row the mean log loss of the updated
	// model exceeds that of the one that learnt everything at once: of the
	// target or, without one, of the density.
	LogLoss Measure = "log_loss"
)

// Promiser is a model, or a learner, that says what updates promise, where
// that is not what its learner registers.
type Promiser interface{ Promise() Promise }

// PromiseOf returns what a model promises. One that cannot learn more rows
// promises nothing.
func PromiseOf(m Model) Promise {
	if _, ok := Ability[Updater](m); !ok {
		return Promise{}
	}
	if p, ok := Ability[Promiser](m); ok {
		return p.Promise()
	}
	info, _ := Lookup(m.Learner()) // one that is not registered promises nothing
	return Promise{Contract: info.Contract}
}
