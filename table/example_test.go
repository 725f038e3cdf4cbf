package table_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"strings"

	"github.com/accrete-ml/accrete/table"
)

func Example() {
	const file = `outlook,humidity,play
sunny,85,no
overcast,?,yes
"rainy, cold",96.5,yes
`
	t, report, err := table.Read(context.Background(), strings.NewReader(file), table.Options{Name: "weather.csv"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(report.Format, t.Rows(), "rows")
	for _, s := range table.Summarise(t) {
		fmt.Println(s.Name, s.Kind, "distinct", s.Distinct, "missing", s.Missing)
	}
	// Output:
	// csv 3 rows
	// outlook nominal distinct 3 missing 0
	// humidity numeric distinct 2 missing 1
	// play nominal distinct 2 missing 0
}

// New rows are read as the columns of a model's schema. Names that the model
// does not know extend it.
func ExampleStream() {
	schema := &table.Schema{Attributes: []table.Attribute{
		{Name: "play", Kind: table.Nominal, Values: []string{"no", "yes"}},
		{Name: "humidity", Kind: table.Numeric},
	}}
	more := "humidity,windy,play\n70,true,yes\n80,false,perhaps\n"
	s, err := table.NewStream(context.Background(), strings.NewReader(more), table.Options{Name: "more.csv", Schema: schema, Extend: true})
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	for {
		t, err := s.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(t.Rows(), "rows, play is one of", t.Schema.Attributes[0].Values)
	}
	fmt.Println(s.Report().Notes[0])
	// Output:
	// 2 rows, play is one of [no yes perhaps]
	// column "windy" ignored: the model does not know it
}

func ExampleRead_wrong() {
	_, _, err := table.Read(context.Background(), strings.NewReader("a,b\n1,2\n3\n"), table.Options{Name: "data.csv"})
	fmt.Println(err)
	// Output:
	// data.csv:3:2: the row has 1 cell where there are 2 columns; add or remove cells, or quote text that contains ','
}
