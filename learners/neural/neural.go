// Package neural is networks of units that learn: from the perceptron, which
// draws one line, to layered and recurrent networks trained by
// back-propagation.
//
// A unit adds up its inputs, each times a weight, and passes the sum through
// a function. A network's error is a smooth function of all its weights; the
// chain rule, applied from the outputs backwards, gives its slope at the cost
// of one more pass, and learning is walking downhill. What is read, where the
// walk starts, how long its steps are and when it ends is most of the craft.
//
//	Perceptron          a threshold unit; the perceptron rule, the pocket with
//	                    ratchet, separation by linear programming
//	Network, Pass       any acyclic graph of units, and its gradient
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
//	ALVINN, Road        a network that drives, and roads for it
//	Learner             the learner "mlp": layered networks on tables, in
//	                    single precision and on all cores
//
// The first part follows Mitchell, Machine Learning (1997), chapter 4 and
// section 6.5, whose traces are its tests; it computes in double precision
// and is meant to be read. Learner is meant to be used: Adam (Kingma & Ba
// 2015), momentum, L-BFGS or conjugate gradients, early stopping with the best
// weights kept or a number of epochs found by folds, restarts, committees,
// pruning by optimal brain damage, probabilities calibrated by temperature
// (Guo et al. 2017).
package neural
