package table

import (
	"bytes"
	"encoding/binary"
	"io"
	"unicode/utf16"
	"unicode/utf8"
)

// European spreadsheets write CSV files in Windows-1252, in which each letter is
// one byte. Such a file is no UTF-8: after a letter with an accent there would
// have to be more bytes of its kind. It is read as what it is, and that is said.

// western are the characters of the bytes 0x80 to 0x9f in Windows-1252, 0 where
// there is none; those above are Unicode's own.
var western = [32]rune{'€', 0, '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', 0, 'Ž', 0, 0, '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', 0, 'ž', 'Ÿ'}

// isWestern reports whether the beginning of a text is Windows-1252: no UTF-8, and
// all bytes beyond ASCII are letters or signs that people write in tables.
func isWestern(head []byte, ended bool) bool {
	good := head
	for len(good) > 0 {
		r, size := utf8.DecodeRune(good)
		if r == utf8.RuneError && size == 1 {
			break
		}
		good = good[size:]
	}
	if len(good) == 0 || !ended && len(good) < utf8.UTFMax && !utf8.FullRune(good) {
		return false
	}
	for i, b := range head {
		switch {
		case b < 0x80:
			continue
		case b >= 0xfe, b < 0xa0 && western[b-0x80] == 0:
			return false
		case b >= 0xc0, b == 0x80, b == 0x8a, b == 0x8c, b == 0x8e, b == 0x9a, b == 0x9c, b == 0x9e, b == 0x9f: // letters, €
		case b >= 0x91 && b <= 0x97, b == 0xa0, b == 0xa3, b == 0xa5, b == 0xa7, b == 0xab, b == 0xbb, b >= 0xb0 && b <= 0xb5, b == 0xba, b == 0xaa, b >= 0xbc && b <= 0xbe, b == 0xa9, b == 0xae:
		default:
			return false
		}
		if i+1 < len(head) && b >= 0xc0 && head[i+1] >= 0x80 && head[i+1] < 0xc0 && head[i+1] != 0xa0 {
			return false // as broken UTF-8 has it
		}
	}
	return true
}

// fromWestern is the content as UTF-8.
func (c *content) fromWestern() *content { return c.recoded(westernRunes) }

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

// westernRunes turns Windows-1252 into UTF-8.
func westernRunes(to, from []byte, _ bool) ([]byte, int) {
	for _, b := range from {
		r := rune(b)
		if b >= 0x80 && b < 0xa0 {
			if r = western[b-0x80]; r == 0 {
				r = utf8.RuneError
			}
		}
		to = utf8.AppendRune(to, r)
	}
	return to, len(from)
}
