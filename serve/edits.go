package serve

import (
	"bytes"
	"context"
	"fmt"
	"net/http"

	"github.com/accrete-ml/accrete/life"
	"github.com/accrete-ml/accrete/store"
)

// Judged says how a correction is judged, and whether it is only looked at.
type Judged struct {
	Preview bool     `json:"preview,omitempty" doc:"only say what it would do"`
	Note    string   `json:"note,omitempty" doc:"why"`
	On      []string `json:"on,omitempty" doc:"data to judge it on; none is the rows that the model learnt"`
	Groups  string   `json:"groups,omitempty" doc:"a column by whose values it is judged too"`
}

// edit is what life takes of it.
func (c *call) edit(h *life.Home, j *Judged) (life.Edit, error) {
	e := life.Edit{Preview: j.Preview, Who: c.who.name, Note: j.Note, Groups: j.Groups}
	var err error
	if e.Version, err = c.ifMatch(); err != nil {
		return e, err
	}
	for _, name := range j.On {
		find, err := c.finder(name, ReadAs{})
		if err != nil {
			return e, err
		}
		d, err := find(h)
		if err != nil {
			return e, err
		}
		e.On = append(e.On, d)
	}
	return e, nil
}

// correct makes a correction of the newest version: what was learnt live is
// frozen first, and another version that somebody made meanwhile is a conflict for
// who said which version they looked at. Who only looks changes nothing: they see
// what it would do to the newest version as it is, or, where it is about what was
// learnt since, to that.
func (c *call) correct(what string, in any, judged *Judged, do func(ctx context.Context, h *life.Home, name string, e life.Edit) (any, error)) error {
	st, name, err := c.newest()
	if err != nil {
		return err
	}
	if err := c.decode(in); err != nil {
		return err
	}
	ctx, cancel := c.limited()
	defer cancel()
	h := c.home()
	e, err := c.edit(h, judged)
	if err != nil {
		return err
	}
	if c.o.ReadOnly && !e.Preview {
		return problemf(http.StatusForbidden, "start the server without read-only", "this server changes nothing: it was started read-only")
	}
	var result any
	if e.Preview {
		result, err = do(ctx, h, name, e)
	}
	if !e.Preview || err != nil && st.since > 0 {
		if err := c.frozen(ctx, name); err != nil {
			return err
		}
		result, err = do(ctx, h, name, e)
	}
	if err != nil {
		return err
	}
	if !e.Preview {
		c.audit(what, name, judged.Note)
		c.touch(ctx, name)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.answer(http.StatusOK, noted{result, c.notes})
}

// ToTell is what an expert says.
type ToTell struct {
	Rules    string  `json:"rules" doc:"in the rule language"`
	Worth    float64 `json:"worth,omitempty" doc:"cases that a rule counts for which does not say so itself"`
	Replaces string  `json:"replaces,omitempty" doc:"the id of a told rule that this one takes the place of"`
	Judged
}

func (c *call) tell() error {
	var in ToTell
	return c.correct("tell", &in, &in.Judged, func(ctx context.Context, h *life.Home, name string, e life.Edit) (any, error) {
		if in.Rules == "" {
			return nil, problemf(http.StatusUnprocessableEntity, `give "rules", as in IF fever = high THEN flu = yes WITH 0.9 WORTH 20`, "what is told?")
		}
		return h.Tell(ctx, name, life.Rules{File: c.who.name, Text: []byte(in.Rules), Worth: in.Worth, Replaces: in.Replaces}, e)
	})
}

// ToForget is what to take back out.
type ToForget struct {
	Source string `json:"source,omitempty" doc:"a source's name, path, version or hash"`
	Rule   string `json:"rule,omitempty" doc:"or the id of a rule that was told"`
	Erase  bool   `json:"erase,omitempty" doc:"also out of every older version; needs the scope admin"`
	Judged
}

func (c *call) forget() error {
	var in ToForget
	return c.correct("forget", &in, &in.Judged, func(ctx context.Context, h *life.Home, name string, e life.Edit) (any, error) {
		if in.Erase && c.who.scope < admin {
			return nil, problemf(http.StatusForbidden, "use a token whose scope is admin", "to erase needs the scope admin")
		}
		if (in.Source == "") == (in.Rule == "") {
			return nil, problemf(http.StatusUnprocessableEntity, `give one of "source" and "rule"`, "what is to be forgotten?")
		}
		if in.Rule != "" {
			return h.Strike(ctx, name, in.Rule, e)
		}
		f, err := h.Forget(ctx, name, in.Source, in.Erase, e)
		if err == nil && in.Erase && !e.Preview {
			c.held.drop(name)
		}
		return f, err
	})
}

// ToRestore is an old version that is to be the newest again.
type ToRestore struct {
	Version int `json:"version"`
	Judged
}

func (c *call) restore() error {
	var in ToRestore
	return c.correct("restore", &in, &in.Judged, func(ctx context.Context, h *life.Home, name string, e life.Edit) (any, error) {
		if in.Version < 1 {
			return nil, problemf(http.StatusUnprocessableEntity, `give "version"`, "which version?")
		}
		return h.Restore(ctx, store.Version{Model: name, Number: in.Version}.String(), e)
	})
}

// ToStrike names a rule that is to be left out.
type ToStrike struct {
	Rule string `json:"rule" doc:"its id, or the beginning of it"`
	Judged
}

func (c *call) strike() error {
	var in ToStrike
	return c.correct("strike", &in, &in.Judged, func(ctx context.Context, h *life.Home, name string, e life.Edit) (any, error) {
		return h.Strike(ctx, name, in.Rule, e)
	})
}

// ToCut says how many rules are to be left.
type ToCut struct {
	Top int `json:"top"`
	Judged
}

func (c *call) cut() error {
	var in ToCut
	return c.correct("cut", &in, &in.Judged, func(ctx context.Context, h *life.Home, name string, e life.Edit) (any, error) {
		return h.Cut(ctx, name, in.Top, e)
	})
}

func (c *call) undo() error {
	var in Judged
	return c.correct("undo", &in, &in, func(ctx context.Context, h *life.Home, name string, e life.Edit) (any, error) {
		return h.Undo(ctx, name, e)
	})
}

// edits lists what people did to a model.
func (c *call) edits() error {
	ref, _, err := c.ref()
	if err != nil {
		return err
	}
	list, err := c.o.Home.Edits(ref)
	if err != nil {
		return err
	}
	return c.answer(http.StatusOK, list)
}

// conflicts lists where people and rows disagree.
func (c *call) conflicts() error {
	ref, _, err := c.ref()
	if err != nil {
		return err
	}
	ctx, cancel := c.limited()
	defer cancel()
	court, err := c.home().Conflicts(ctx, ref, nil)
	if err != nil {
		return err
	}
	return c.answer(http.StatusOK, court)
}

// report is the page to sign for a version.
func (c *call) report() error {
	ref, q, err := c.versionAsked()
	if err != nil {
		return err
	}
	ctx, cancel := c.limited()
	defer cancel()
	h := c.home()
	var e life.Edit
	if on := q.Get("on"); on != "" {
		if e, err = c.edit(h, &Judged{On: []string{on}}); err != nil {
			return err
		}
	}
	r, err := h.Report(ctx, ref, e)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := r.Write(&b); err != nil {
		return err
	}
	c.w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox allow-modals")
	return c.send(http.StatusOK, []string{"text/html; charset=utf-8"}, b.Bytes())
}

// ToApprove is a version that somebody answers for.
type ToApprove struct {
	Version int    `json:"version"`
	By      string `json:"by" doc:"who answers for it"`
	Note    string `json:"note,omitempty"`
}

func (c *call) approve() error {
	_, name, err := c.newest()
	if err != nil {
		return err
	}
	var in ToApprove
	if err := c.decode(&in); err != nil {
		return err
	}
	if in.Version < 1 {
		return problemf(http.StatusUnprocessableEntity, `give "version"`, "which version?")
	}
	ctx, cancel := c.limited()
	defer cancel()
	a, err := c.home().Approve(ctx, store.Version{Model: name, Number: in.Version}.String(), in.By, in.Note)
	if err != nil {
		return err
	}
	c.audit("approve", fmt.Sprintf("%s@%d", name, in.Version), in.Note)
	return c.answer(http.StatusOK, a)
}
