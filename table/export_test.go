package table

// What the tests of files that other packages read need of this one.
var (
	Show        = show
	Same        = same
	Gather      = gather
	MissingText = isMissing
	Packed      = packed
)

// Tuned returns options with blocks of a size and a number of workers, 0 for
// what is usual.
func Tuned(o Options, block, workers int) Options {
	o.tuning = tuning{block: block, workers: workers}
	return o
}
