package table

import "context"

// Feed is rows that are no file, such as those that a query of a database
// gives: typed columns, the same ones as often as they are asked for.
type Feed struct {
	Name   string // what messages call it, without passwords
	Format string // as reports name it
	// Open begins to give the rows, from the first one. Sum says that their
	// hash is wanted (Summed).
	Open func(ctx context.Context, sum bool) (Columnar, error)
	// Keys are columns that only name rows: they are left out unless somebody
	// asks for them.
	Keys []string
	// Whole are those of them that are integers; they are given as texts, for not
	// every integer is a float64.
	Whole    []string
	Snapshot string // which state of the database the rows are of; "" if it has no name
	Close    func() error
	// Stage copies the rows aside and closes the feed. The copy can be opened
	// by many at once, all of whom see the same rows in the same order.
	Stage func(ctx context.Context) (*Feed, error)
}

// FeedOf opens an address whose scheme gives feeds; nil if it does not.
func FeedOf(ctx context.Context, address string) (*Feed, error) {
	s, err := schemeOf(address)
	if err != nil || s.Feed == nil {
		return nil, err
	}
	return s.Feed(ctx, address)
}

// Summed is a Columnar that says, once all rows were read, what they are: a
// hash, and how many bytes they came as.
type Summed interface {
	Sum() (hash string, bytes int64)
}

// Source gives the rows of a feed in batches: as the columns of the options'
// schema, or of one that is found first, in a pass that keeps no rows.
func (f *Feed) Source(ctx context.Context, o Options) (Source, error) {
	if o.Name == "" {
		o.Name = f.Name
	}
	return newSource(ctx, f.input(), f.Name, o)
}

// Read reads all rows of a feed, in one pass, and closes it.
func (f *Feed) Read(ctx context.Context, o Options) (*Table, *Report, error) {
	if o.Name == "" {
		o.Name = f.Name
	}
	return readInput(ctx, f.input(), f.Name, o)
}

// feedSize stands for the bytes of a feed, of which only shares are known.
const feedSize = 1 << 30

func (f *Feed) input() *input {
	in := &input{name: f.Name, feed: f, size: feedSize}
	if f.Close != nil {
		in.close = append(in.close, f.Close)
	}
	return in
}

// beginFeed starts the flow of a feed's columns.
func (s *reading) beginFeed(ctx context.Context) error {
	s.format = s.in.feed.Format
	file, err := s.in.feed.Open(ctx, s.meter != nil)
	if err != nil {
		return s.named(err)
	}
	if err := s.startColumnar(ctx, file, s.in.feed.Keys); err != nil {
		file.Close()
		return err
	}
	return nil
}

// reportFeed completes what there is to say of a feed.
func (s *reading) reportFeed(r *Report) *Report {
	r.Snapshot = s.in.feed.Snapshot
	flow, _ := s.flow.(*columnar)
	if flow == nil {
		return r
	}
	if file, ok := flow.file.(Summed); ok && s.ended {
		r.Hash, r.Bytes = file.Sum()
	}
	return r
}

// openFeed and readFeed are what a scheme does that gives feeds.
func (s Scheme) openFeed(ctx context.Context, address string, o Options) (Source, error) {
	f, err := s.Feed(ctx, address)
	if err != nil {
		return nil, err
	}
	return f.Source(ctx, o)
}

func (s Scheme) readFeed(ctx context.Context, address string, o Options) (*Table, *Report, error) {
	f, err := s.Feed(ctx, address)
	if err != nil {
		return nil, nil, err
	}
	return f.Read(ctx, o)
}
