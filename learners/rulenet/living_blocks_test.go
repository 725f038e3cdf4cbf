package rulenet

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// Versions of a living network share the rows that both have, before and beyond its
// reservoir, and a network that was read goes on as the one that was saved.
func TestVersionsShareTheirRows(t *testing.T) {
	all := concept(2400, 0, 9)
	for _, reservoir := range []string{"300", "16384"} {
		m := startLiving(t, all.Slice(0, 600), map[string]string{"reservoir": reservoir, "forget": "never"})
		there, kept, rows := map[string]bool{}, 0, 0
		for i := range 40 {
			parts, err := m.Parts()
			if err != nil {
				t.Fatal(err)
			}
			blocks := 0
			rows = 0
			for _, p := range parts {
				if !strings.HasPrefix(p.Name, blockPart) {
					continue
				}
				blocks++
				if rows += len(p.Data); !there[p.Name] {
					kept += len(p.Data)
				}
				there[p.Name] = true
			}
			if blocks > 2*blockFan {
				t.Errorf("%d blocks after %d updates", blocks, i)
			}
			read, err := decode(parts)
			if err != nil {
				t.Fatal(err)
			}
			again, err := read.Parts()
			if err != nil || len(again) != len(parts) {
				t.Fatal(len(again), len(parts), err)
			}
			for j := range again {
				if again[j].Name != parts[j].Name || !bytes.Equal(again[j].Data, parts[j].Data) {
					t.Fatalf("part %q is %q when it is saved again", parts[j].Name, again[j].Name)
				}
			}
			next := all.Slice(600+45*i, 645+45*i)
			was := read.(*Living)
			m = updateLiving(t, m, fmt.Sprint("update ", i), false, next)
			if i%8 != 0 {
				continue
			}
			loaded := updateLiving(t, was, fmt.Sprint("update ", i), false, next)
			if far := furthest(answersOf(t, m, all), answersOf(t, loaded, all)); far > 1e-9 {
				t.Fatalf("after %d updates what was read answers otherwise, by %v", i+1, far)
			}
		}
		if t.Logf("reservoir %s: all versions have %d bytes of rows, the last %d", reservoir, kept, rows); kept > 10*rows {
			t.Errorf("reservoir %s: all versions have %d bytes of rows, the last %d", reservoir, kept, rows)
		}
	}
}

// What was forgotten is in no block any more.
func TestForgottenRowsAreInNoBlock(t *testing.T) {
	all := concept(2000, 0, 9)
	m := startLiving(t, all.Slice(0, 600), map[string]string{"reservoir": "300", "forget": "never"})
	secret := table.CopySchema(all.Schema)
	secret.Attributes[2].Values[1] = "unspoken"
	rows, err := table.New(secret, all.Slice(600, 1200).Columns, nil)
	if err != nil {
		t.Fatal(err)
	}
	fitted, _, err := table.Conform(rows, m.Schema(), true)
	if err != nil {
		t.Fatal(err)
	}
	m = updateLiving(t, m, "secret", false, fitted)
	left, err := m.Forget(t.Context(), "secret")
	if err != nil {
		t.Fatal(err)
	}
	data, err := learn.Encode(left)
	if err != nil {
		t.Fatal(err)
	}
	blocks, err := left.(*Living).state().saveBlocks()
	if err != nil {
		t.Fatal(err)
	}
	saved := 0
	for _, b := range blocks {
		saved += len(b.at)
	}
	if kept := left.(*Living).state().log.rows(); bytes.Contains(data, []byte("unspoken")) || saved != kept {
		t.Errorf("%d rows are saved of %d, or a value is left", saved, kept)
	}
}
