package neural

import (
	"bytes"
	"context"
	"testing"

	"github.com/accrete-ml/accrete/learn"
)

// A model is the same bits with and without vector instructions.
func TestVectorsChangeNothing(t *testing.T) {
	if !vectors {
		return // there is one way only
	}
	defer func() { vectors = true }()
	var models [][]byte
	for _, v := range []bool{true, false} {
		vectors = v
		m, err := (&Learner{Hidden: "20,9", Epochs: 5}).Learn(context.Background(), learn.Task{Table: randomTable(t, 300, 10, 3), Seed: 3}.At(10))
		if err != nil {
			t.Fatal(err)
		}
		data, err := learn.Encode(m)
		if err != nil {
			t.Fatal(err)
		}
		models = append(models, data)
	}
	if !bytes.Equal(models[0], models[1]) {
		t.Error("models differ")
	}
}

// Nor do they change an answer.
func TestFusedChangesNothing(t *testing.T) {
	if !fused {
		return
	}
	defer func() { fused = true }()
	fused = false
	TestMultiplyDouble(t)
}
