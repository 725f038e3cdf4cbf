package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/accrete-ml/accrete/life"
)

// editFlags say how somebody corrects a model: only to see what it would do, by
// which rows it is judged, and what the record says of it.
type editFlags struct {
	edit  life.Edit
	on    []string
	data  dataFlags
	where sourceFlags
}

// register adds the flags; a command that says itself where sources are, or how
// data are read, has them already.
func (f *editFlags) register(c *cobra.Command) {
	flags := c.Flags()
	flags.BoolVar(&f.edit.Preview, "preview", false, "say what it would do, and change nothing")
	flags.StringVar(&f.edit.Note, "note", "", "why, for the record")
	flags.StringVar(&f.edit.Who, "who", os.Getenv("USER"), "who makes the change, for the record")
	flags.StringSliceVar(&f.on, "on", nil, "data that the change is judged on (default: rows that were learnt, held out)")
	flags.StringVar(&f.edit.Groups, "by", "", "column by whose values the change is judged too")
	if flags.Lookup("source") == nil {
		f.where.register(c)
	}
}

// at finds what the flags name.
func (f *editFlags) at(h *life.Home) (life.Edit, error) {
	var err error
	f.edit.On = nil
	for _, arg := range f.on {
		d, err := h.Find(arg, f.data.Reading)
		if err != nil {
			return f.edit, err
		}
		f.edit.On = append(f.edit.On, d)
	}
	f.edit.At, err = f.where.elsewhere()
	return f.edit, err
}

// printEffect says what a change does, or would do.
func (a *app) printEffect(l *life.Learnt) {
	if l.Effect != nil && len(l.Effect.Tables) > 0 {
		fmt.Fprintln(a.out)
		l.Effect.Write(a.out, l.Preview)
	}
}

// version names the version that is there now, or would be.
func versionOf(l *life.Learnt) string {
	if l.Preview {
		return fmt.Sprintf("model %s, version %d if it were done (nothing was changed)", l.Model, l.Version)
	}
	return fmt.Sprintf("model %s, version %d", l.Model, l.Version)
}

// of finds the model, which is the newest version, and what the flags name.
func (f *editFlags) of(h *life.Home, model string) (string, life.Edit, error) {
	name, err := headOnly(model)
	if err != nil {
		return "", f.edit, err
	}
	edit, err := f.at(h)
	return name, edit, err
}

// orJSON prints a result for programs, unless there is an error.
func (a *app) orJSON(v any, err error) error {
	if err != nil {
		return err
	}
	return a.printJSON(v)
}

// nextEdit says what can be done after a correction.
func (a *app) nextEdit(l *life.Learnt) {
	if !l.Preview {
		a.next(l.Part, append([]string{"rules", "undo"}, nextDiff(l)...)...)
	}
}
