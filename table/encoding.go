package table

import (
	"bytes"
	"encoding/binary"
	"io"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/accrete-ml/accrete/internal/charset"
	"github.com/accrete-ml/accrete/internal/remedy"
)

// Spreadsheets and older systems write text in encodings of one byte a letter. Such
// a file is no UTF-8: after a letter with an accent there would have to be more bytes
// of its kind. It is read as what its letters say it is, and that is said, or as it
// was said to be.

// decoded is the content as UTF-8, and its beginning.
func (s *reading) decoded(content *content, head []byte) (*content, []byte, error) {
	order, wide := isUTF16(head)
	switch {
	case s.plan.options.Encoding != "" && s.plan.charset.IsUTF8():
		return content, head, nil
	case s.plan.options.Encoding != "":
		content = content.recoded(s.plan.charset.Recoder())
	case wide:
		s.notes.add("the text is UTF-16, and is read as that")
		content = content.fromUTF16(order)
	default:
		set, ok := charset.Find(head, content.ended)
		if format := chooseFormat(s.path, head); !ok || format != "csv" && format != "arff" {
			return content, head, nil
		}
		s.notes.remark(Remark{Kind: "encoding", What: "the text is no UTF-8, and is read as " + set.Words(), Do: remedy.Remedy{Kind: remedy.SayEncoding}})
		content = content.recoded(set.Recoder())
	}
	head, err := content.look(glance)
	return content, head, err
}

// isUTF16 reports whether a text begins with the mark of UTF-16, which
// spreadsheets write as "Unicode text", and in which order its bytes come.
func isUTF16(head []byte) (binary.ByteOrder, bool) {
	switch {
	case bytes.HasPrefix(head, []byte("\xff\xfe")):
		return binary.LittleEndian, true
	case bytes.HasPrefix(head, []byte("\xfe\xff")):
		return binary.BigEndian, true
	}
	return nil, false
}

// fromUTF16 is the content as UTF-8, the mark being one of UTF-8.
func (c *content) fromUTF16(order binary.ByteOrder) *content {
	return c.recoded(func(to, from []byte, ended bool) ([]byte, int) {
		i := 0
		for ; i+2 <= len(from); i += 2 {
			r := rune(order.Uint16(from[i:]))
			if utf16.IsSurrogate(r) {
				if i+4 > len(from) && !ended {
					break
				}
				if i+4 <= len(from) {
					r = utf16.DecodeRune(r, rune(order.Uint16(from[i+2:])))
					i += 2
				}
			}
			to = utf8.AppendRune(to, r)
		}
		if ended && i < len(from) {
			to, i = utf8.AppendRune(to, utf8.RuneError), len(from)
		}
		return to, i
	})
}

// recoded is the content in other bytes. Recode appends what bytes mean, and
// says how many of them it took: some may wait for others.
func (c *content) recoded(recode func(to, from []byte, ended bool) ([]byte, int)) *content {
	return &content{r: &recoder{r: c, recode: recode}, packing: c.packing, close: c.close}
}

// recoder reads text in another code.
type recoder struct {
	r       io.Reader
	recode  func(to, from []byte, ended bool) ([]byte, int)
	room    [4096]byte
	waiting int // bytes of the room that were not taken yet
	done    []byte
	left    []byte // of what is done
	err     error
}

func (u *recoder) Read(p []byte) (int, error) {
	for len(u.left) == 0 && u.err == nil {
		var n, taken int
		n, u.err = u.r.Read(u.room[u.waiting:])
		have := u.room[:u.waiting+n]
		u.done, taken = u.recode(u.done[:0], have, u.err != nil)
		u.left, u.waiting = u.done, copy(u.room[:], have[taken:])
	}
	n := copy(p, u.left)
	if u.left = u.left[n:]; n == 0 {
		return 0, u.err
	}
	return n, nil
}
