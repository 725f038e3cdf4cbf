package serve

import (
	"encoding/json"
	"io"
	"net/http"

	"github.com/accrete-ml/accrete/rule/say"
)

// words are the names that people use for what a model speaks of.
func (c *call) words() error {
	_, name, err := c.newest()
	if err != nil {
		return err
	}
	w, err := c.o.Home.Words(name)
	if err != nil {
		return err
	}
	return c.answer(http.StatusOK, w)
}

func (c *call) setWords() error {
	_, name, err := c.newest()
	if err != nil {
		return err
	}
	if err := c.accepts("application/json"); err != nil {
		return err
	}
	text, err := io.ReadAll(c.body())
	if err != nil {
		return err
	}
	if !json.Valid(text) {
		return problemf(http.StatusBadRequest, "see /docs for what is expected", "the body is no JSON document")
	}
	ctx, cancel := c.limited()
	defer cancel()
	w, err := c.home().SetWords(ctx, name, text)
	if err != nil {
		return err
	}
	c.audit("words", name, "")
	return c.answer(http.StatusOK, w)
}

// dataWords are the names of a table, which a model of it takes over.
func (c *call) dataWords() error {
	up, _, err := c.table()
	if err != nil {
		return err
	}
	w := json.RawMessage("{}")
	if up != nil && up.Words != nil {
		w = up.Words
	}
	return c.answer(http.StatusOK, w)
}

func (c *call) setDataWords() error {
	up, err := c.sentTable()
	if err != nil {
		return err
	}
	var w say.Words
	if err := c.decode(&w); err != nil {
		return err
	}
	if up.Words, err = json.Marshal(w); err != nil {
		return err
	}
	ctx, cancel := c.limited()
	defer cancel()
	c.uploads.mu.Lock()
	defer c.uploads.mu.Unlock()
	if err := c.uploads.save(ctx, up); err != nil {
		return err
	}
	c.audit("words of table", up.Name, "")
	return c.answer(http.StatusOK, w)
}
