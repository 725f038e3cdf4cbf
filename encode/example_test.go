package encode_test

import (
	"context"
	"fmt"

	"github.com/accrete-ml/accrete/datasets"
	"github.com/accrete-ml/accrete/encode"
)

func ExampleMDL() {
	rows, _, err := datasets.Load(context.Background(), "iris")
	if err != nil {
		fmt.Println(err)
		return
	}
	petal := rows.Columns[2].Floats
	cuts := encode.MDL(petal, rows.Columns[4].Codes, 3, nil)
	for code, label := range cuts.Labels(&rows.Schema.Attributes[2]) {
		low, high := cuts.Interval(int32(code))
		fmt.Println(label, low, high)
	}
	fmt.Println(petal[0], "is in", cuts.Code(petal[0]))
	// Output:
	// <= 2.45 -Inf 2.45
	// 2.45 < x <= 4.75 2.45 4.75
	// > 4.75 4.75 +Inf
	// 1.4 is in 0
}

func ExampleMatrix() {
	rows, set, err := datasets.Load(context.Background(), "weather")
	if err != nil {
		fmt.Println(err)
		return
	}
	m, err := encode.FitMatrix(context.Background(), rows, rows.Schema.Index(set.Target), encode.Options{Scaling: encode.MinMax, Single: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	row := make([]float64, m.Width())
	if err := m.Apply(rows, 0, 1, row); err != nil {
		fmt.Println(err)
		return
	}
	for i, name := range m.Names(rows.Schema) {
		fmt.Printf("%s: %.2f\n", name, row[i])
	}
	// Output:
	// outlook = overcast: 0.00
	// outlook = rainy: 0.00
	// outlook = sunny: 1.00
	// temperature: 1.00
	// humidity: 0.65
	// windy = TRUE: 0.00
}
