package store_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"time"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/store"
	"github.com/accrete-ml/accrete/table"
)

// A counter counts rows; any other model is kept in the same way.
type counter struct{ rows int }

func (c counter) Learner() string       { return "counter" }
func (c counter) Schema() *table.Schema { return &table.Schema{} }
func (c counter) Target() int           { return learn.NoTarget }
func (c counter) Size() learn.Size      { return learn.Size{Rows: float64(c.rows)} }
func (c counter) Predict(context.Context, *table.Table, *learn.Predictions) error {
	return nil
}
func (c counter) Parts() ([]learn.Part, error) {
	data, err := learn.Marshal(c.rows)
	return []learn.Part{{Name: "rows", Data: data}}, err
}

func init() {
	learn.Register(learn.Info{Name: "counter", Decode: func(parts []learn.Part) (learn.Model, error) {
		var c counter
		return c, learn.Unmarshal(parts[0].Data, &c.rows)
	}})
}

func Example() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	s, err := store.Open(filepath.Join(dir, ".accrete"), store.Options{})
	if err != nil {
		log.Fatal(err)
	}
	ctx, day := context.Background(), time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)

	// Save a first version.
	_, err = s.Save(ctx, "visits", counter{100}, store.Version{
		Kind: store.Learn, At: day, Source: store.Source{Name: "monday.csv", Rows: 100},
	})
	if err != nil {
		log.Fatal(err)
	}

	// Load, update and save, while other writers wait.
	err = s.Write(ctx, "visits", func(tx *store.Tx) error {
		m, _, err := tx.Load()
		if err != nil {
			return err
		}
		_, err = tx.Save(counter{m.(counter).rows + 20}, store.Version{
			Kind: store.Update, At: day.AddDate(0, 0, 1), Source: store.Source{Name: "tuesday.csv", Rows: 20},
		})
		return err
	})
	if err != nil {
		log.Fatal(err)
	}

	versions, err := s.Log("visits")
	if err != nil {
		log.Fatal(err)
	}
	for _, v := range versions {
		fmt.Println(v, v.Kind, v.Source.Name, v.Rows, "rows", v.At.Format(time.DateOnly))
	}
	old, _, err := s.Load("visits@1")
	fmt.Println(old.Size().Rows, err)
	_, _, err = s.Load("visit")
	fmt.Println(err != nil)
	// Output:
	// visits@1 learn monday.csv 100 rows 2024-01-01
	// visits@2 update tuesday.csv 120 rows 2024-01-02
	// 100 <nil>
	// true
}
