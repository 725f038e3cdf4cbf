package accrete_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/accrete-ml/accrete"
)

// Learn from a table, ask about a row, and read why.
func Example() {
	m, err := accrete.LearnFile(context.Background(), "monks1", "class")
	if err != nil {
		log.Fatal(err)
	}
	answer, err := m.Ask(map[string]any{"a1": 1, "a2": 1, "a5": 2})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s with probability %.3f, because %s\n", answer.Class, answer.Probability, answer.Reasons[0].Text)
	// Output: 1 with probability 0.984, because a1 = 1 AND a2 = 1
}

// A row can be a struct; a field is the column of its name, or of its tag.
func ExampleModel_Ask() {
	m, err := accrete.LearnFile(context.Background(), "iris", "target", accrete.Learner("tree"))
	if err != nil {
		log.Fatal(err)
	}
	type flower struct {
		Length float64 `accrete:"petal length (cm)"`
		Width  float64 `accrete:"petal width (cm)"`
	}
	answer, err := m.Ask(flower{Length: 1.4, Width: 0.2})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(answer.Class)
	// Output: setosa
}

// Learn more rows, be told what an expert knows, save, load.
func ExampleModel_Update() {
	ctx := context.Background()
	m, err := accrete.LearnFile(ctx, "led:rows=300,seed=1", "digit", accrete.Learner("bayes"))
	if err != nil {
		log.Fatal(err)
	}
	if m, err = m.Update(ctx, "led:rows=700,seed=2"); err != nil {
		log.Fatal(err)
	}
	if m, err = m.Tell(ctx, "IF top = 0 THEN digit = 4 WITH 0.6 WORTH 100"); err != nil {
		log.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if err := m.Save(filepath.Join(dir, "led.accrete")); err != nil {
		log.Fatal(err)
	}
	if m, err = accrete.Load(filepath.Join(dir, "led.accrete")); err != nil {
		log.Fatal(err)
	}
	for _, r := range m.Rules() {
		if r.State != "" {
			fmt.Println(r.State, r.Text)
		}
	}
	// Output: disputed IF top = 0 THEN digit = 4 WITH 0.6 WORTH 100 [covered 271, correct 87]
}
