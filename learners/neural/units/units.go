// Package units is networks of units as chapter 4 of Mitchell, Machine Learning
// (1997), and its section 6.5 tell of them, from the perceptron, which draws
// one line, to recurrent networks. It computes in double precision and is
// meant to be read; the chapter's traces are its tests.
//
//	Perceptron          a threshold unit: the perceptron rule, the pocket with
//	                    ratchet, separation by linear programming, m-of-n
//	                    tests and truth tables
//	Network, Pass       any acyclic graph of units, and its gradient
//	Parse               such a graph from a few lines of text
//	Descent             gradient descent: batch or stochastic, momentum, decay,
//	                    schedules, stopping on validation examples
//	Minimise            conjugate gradients, L-BFGS and other methods for all
//	                    examples at a time
//	Frequencies         probabilities as targets, where inputs repeat
//	Recurrent           Elman's and Jordan's networks, unfolded in time
//	Cascade             networks that grow a unit at a time
//	Saliences, Network.Drop   optimal brain damage
//	TangentError        slopes as training information
//	Rectangle           a rectangle fitted by gradient descent
//	ALVINN              a network that drives, on the roads of package datasets
//
// The learner "mlp" (package neural) puts them to use on tables.
package units
