package life

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/accrete-ml/accrete/internal/remedy"
)

// Interview asks the questions of a model one after another, and learns each answer at once,
// until nothing is left to ask, or whoever answers wants no more: an empty line ends it. What
// it is about is the name of the model, and nothing else.
func (h *Home) Interview(ctx context.Context, about []string, out io.Writer, inJSON bool) error {
	if len(about) != 1 {
		return remedy.Misusef("people are asked about rows that the model makes up: leave the data out")
	}
	in, passed := bufio.NewScanner(h.In), 0
	for {
		p, err := h.Load(about[0])
		if err != nil {
			return err
		}
		q, err := h.Question(ctx, p, passed+1)
		if err != nil {
			return err
		}
		if len(q.Questions) <= passed {
			fmt.Fprintln(out, "there is nothing left to ask: no answer would change what the model says")
			return nil
		}
		question := q.Questions[passed]
		answer, more := heard(in, out, q.Target, question, p.Schema().Attributes[p.Target()].Values)
		switch {
		case !more:
			return in.Err()
		case answer == "":
			passed++
			continue
		}
		u, err := h.Answer(ctx, p, question, answer)
		if err == nil {
			err = u.taught(out, inJSON)
		}
		if err != nil {
			return err
		}
		passed = 0
	}
}

// taught says what an answer changed.
func (u *Updated) taught(out io.Writer, inJSON bool) error {
	if inJSON {
		return json.NewEncoder(out).Encode(u)
	}
	fmt.Fprintf(out, "version %d:\n", u.Version)
	if clauses := Clauses(u.Part, nil); clauses != nil {
		clauses.WriteClauses(out)
	}
	return nil
}

// heard asks until the answer is one of the classes, or their beginning; "" passes on.
func heard(in *bufio.Scanner, out io.Writer, target string, q QuestionEntry, classes []string) (answer string, more bool) {
	for {
		fmt.Fprintf(out, "what is %s of %s? (%s; ? passes on, an empty line ends) ", target, strings.Join(q.Cells, ", "), strings.Join(classes, ", "))
		if !in.Scan() || strings.TrimSpace(in.Text()) == "" {
			fmt.Fprintln(out)
			return "", false
		}
		said := strings.TrimSpace(in.Text())
		if said == "?" {
			return "", true
		}
		var meant []string
		for _, c := range classes {
			if strings.EqualFold(c, said) {
				return c, true
			}
			if strings.HasPrefix(strings.ToLower(c), strings.ToLower(said)) {
				meant = append(meant, c)
			}
		}
		if len(meant) == 1 {
			return meant[0], true
		}
		fmt.Fprintf(out, "%q is none of them\n", said)
	}
}

// Around says that facts were learnt and no rows; "" where there were rows.
func (u *Updated) Around() string {
	if u.New == 0 && u.Part.Schema().Linked != "" {
		return "what is around the rows"
	}
	return ""
}
