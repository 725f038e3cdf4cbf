package table

import "fmt"

// MemoryError says that a table would need more memory than it may have. It
// comes before the memory is taken.
type MemoryError struct {
	Name          string // of the input
	Rows, Columns int    // so far
	Need, Allowed int64  // bytes
}

// Error gives the numbers in one line.
func (e *MemoryError) Error() string {
	return fmt.Sprintf("%s: %s", e.Name, overBudget(e.Rows, e.Columns, e.Need, e.Allowed))
}

func overBudget(rows, columns int, need, allowed int64) string {
	return fmt.Sprintf("%s of %s need %s of memory, and %s are allowed; leave out columns or rows, or allow more memory",
		count(rows, "row"), count(columns, "column"), bytesText(need), bytesText(allowed))
}

// bytesText writes a number of bytes for people.
func bytesText(n int64) string {
	switch {
	case n >= 1<<30:
		return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	}
	return fmt.Sprintf("%d bytes", n)
}

// A text of n bytes that is written without malice makes a table of at most
// some times as many: a cell of one byte and its comma are eight. Sparse forms
// can stand for far more cells than they have bytes; so they are bounded by
// their size, and small ones by leastMemory.
const (
	bytesPerByte = 32
	leastMemory  = 512 << 20
	leastBlock   = 64 << 20 // of one block; several are in memory
)

// perColumn is what a column needs besides its cells, in a block and in the
// table: its names, and where they are found.
const perColumn = 1 << 10

// budget is what a block of text may need. If memory was given, the block is
// there with the columns of the table that it becomes, which need as much again.
type budget struct{ allowed, copies int64 }

func newBudget(memory int64, bytes int) budget {
	if memory > 0 {
		return budget{memory, 2}
	}
	return budget{max(leastBlock, bytesPerByte*int64(bytes)), 1}
}

// check reports whether a number of rows would need more.
func (b budget) check(rows, columns, place int) *problem {
	if need := b.copies * int64(columns) * (8*int64(rows) + perColumn); need > b.allowed {
		return problemAt(place, overBudget(rows, columns, need, b.allowed))
	}
	return nil
}

// afford returns an error if the columns so far, with a batch that was just
// added, need more memory than they may.
func (a *assembly) afford(b *batch) error {
	a.bytes += int64(len(b.data))
	allowed := a.plan.options.Memory
	if allowed == 0 {
		if len(b.data) == 0 {
			return nil // no text: the form says itself how much there is
		}
		allowed = max(leastMemory, bytesPerByte*a.bytes)
	}
	need := int64(8 * len(a.weights))
	if a.plan.options.Memory > 0 { // the batch is there as well
		need += int64(len(b.data)) + int64(len(a.columns))*(8*int64(b.rows)+2*perColumn)
	}
	for _, col := range a.columns {
		need += int64(8*len(col.floats)+4*len(col.codes)) + col.names.size()
		if col.bag != nil {
			need += col.bag.size()
		}
	}
	if need > allowed {
		return &MemoryError{a.plan.name, a.rows + b.rows, len(a.columns), need, allowed}
	}
	return nil
}

func (d *dictionary) size() int64 {
	return int64(len(d.text) + 4*len(d.slots) + 16*len(d.ends))
}

func (b *Bag) size() int64 {
	return int64(8*len(b.Starts) + 12*len(b.Codes) + len(b.Gone))
}
