package nearest

import (
	"fmt"
	"math"

	"github.com/accrete-ml/accrete/table"
)

// Rocchio learns a prototype of the texts of each class and answers by the most
// similar one (Rocchio 1971; Salton 1991): the named rival of naive Bayes on words.
// A text is a vector of tf·ln(N/df), how often a word occurs times how few of the N
// texts have it, of length 1; a prototype is
//
//	Beta · mean of the texts of the class − Gamma · mean of the others
//
// without what is negative; texts are compared by the cosine. It is for experiments,
// from Go. Learning costs a pass over the words, answering one product for each word
// and class; memory a number for each word and class.
type Rocchio struct {
	Beta, Gamma float64 // 16 and 4, unless one is set
}

// Prototypes are what Rocchio learnt.
type Prototypes struct {
	texts   []int       // columns
	idf     [][]float64 // of each text column, by word
	centres [][]float64 // of each text column, of length 1 over all: of word v and class c at v·classes + c
	classes int
}

// Learn makes the prototypes of the classes in the column target.
func (l Rocchio) Learn(t *table.Table, target int) (*Prototypes, error) {
	if target < 0 || target >= len(t.Columns) || t.Schema.Attributes[target].Kind != table.Nominal {
		return nil, fmt.Errorf("rocchio needs a column of classes")
	}
	if l == (Rocchio{}) {
		l = Rocchio{16, 4}
	}
	p := &Prototypes{classes: len(t.Schema.Attributes[target].Values)}
	for j := range t.Columns {
		if j == target || t.Columns[j].Words == nil {
			continue
		}
		idf := make([]float64, len(t.Schema.Attributes[j].Values))
		for r := range t.Rows() {
			codes, _ := t.Columns[j].Words.Row(r)
			for _, v := range codes {
				idf[v]++
			}
		}
		for v, df := range idf {
			if df > 0 {
				idf[v] = math.Log(float64(t.Rows()) / df)
			}
		}
		p.texts, p.idf = append(p.texts, j), append(p.idf, idf)
		p.centres = append(p.centres, make([]float64, len(idf)*p.classes))
	}
	if len(p.texts) == 0 {
		return nil, fmt.Errorf("rocchio needs a column of texts")
	}
	rows := make([]float64, p.classes)
	for r, class := range t.Columns[target].Codes {
		if class < 0 {
			continue
		}
		rows[class]++
		p.each(t, r, func(k int, v int32, x float64) { p.centres[k][int(v)*p.classes+int(class)] += x })
	}
	p.weigh(l, rows)
	return p, nil
}

// weigh turns sums of texts into prototypes of length 1.
func (p *Prototypes) weigh(l Rocchio, rows []float64) {
	all := 0.0
	for _, n := range rows {
		all += n
	}
	length := make([]float64, p.classes)
	for _, centre := range p.centres {
		for at := 0; at < len(centre); at += p.classes {
			word, total := centre[at:at+p.classes], 0.0
			for _, x := range word {
				total += x
			}
			for c, x := range word {
				word[c] = max(0, l.Beta*x/max(1, rows[c])-l.Gamma*(total-x)/max(1, all-rows[c]))
				length[c] += word[c] * word[c]
			}
		}
	}
	for _, centre := range p.centres {
		for i := range centre {
			if of := length[i%p.classes]; of > 0 {
				centre[i] /= math.Sqrt(of)
			}
		}
	}
}

// each calls add with the words of a row, as a vector of length 1.
func (p *Prototypes) each(t *table.Table, row int, add func(text int, word int32, x float64)) {
	length := 0.0
	for pass := range 2 {
		for k, j := range p.texts {
			codes, counts := t.Columns[j].Words.Row(row)
			for i, v := range codes {
				x := counts[i] * p.idf[k][v]
				if pass == 0 {
					length += x * x
				} else if length > 0 {
					add(k, v, x/math.Sqrt(length))
				}
			}
		}
	}
}

// Similarities fills in the cosine of a row and each class's prototype. The table
// has the columns and codes of the one that was learnt.
func (p *Prototypes) Similarities(t *table.Table, row int, out []float64) {
	clear(out)
	p.each(t, row, func(k int, v int32, x float64) {
		for c, y := range p.centres[k][int(v)*p.classes:][:p.classes] {
			out[c] += x * y
		}
	})
}
