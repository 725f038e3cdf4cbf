// Package encode turns the columns of a table into what learners compute
// with: interval codes of numbers, or dense rows of floats.
//
// Every transform is fitted once, on training rows, into a small struct that
// can be saved with the model and applied to any later row: what was learnt
// from the training rows (cuts, means, which values there are) never changes
// with the rows that it is applied to.
//
//	Cuts      a number to the code of its interval, Low < x <= High
//	Intervals the cuts of all numeric columns of a table
//	OneHot    a name to zeros and a one
//	Scale     a number to one of a common size, a missing one to the mean
//	Matrix    the rows of a table to rows of floats, by OneHot and Scale
//
// Cuts are found by the principle of minimum description length, which looks
// at the classes (Fayyad & Irani, Multi-interval discretization of
// continuous-valued attributes for classification learning, IJCAI 1993), or
// without classes by equal frequency or equal width.
package encode
