package parquet

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
)

// The decoder of Thrift's compact protocol makes room for whatever length a
// text or a list claims to have, before it looks whether there are bytes. So
// headers are walked through first.

// Types of the compact protocol.
const (
	thriftTrue   = 1
	thriftFalse  = 2
	thriftByte   = 3
	thriftInt64  = 6
	thriftDouble = 7
	thriftBinary = 8
	thriftList   = 9
	thriftSet    = 10
	thriftStruct = 12
)

// deepest is how deep the headers of Parquet nest, and some more.
const deepest = 12

// believable returns an error if a header claims to have more than so many bytes.
func believable(r *bufio.Reader, most int64) error {
	if err := passStruct(r, most, 0); err != nil {
		return fmt.Errorf("%w (%v); write it again", errParquet, err)
	}
	return nil
}

func passStruct(r *bufio.Reader, most int64, depth int) error {
	for {
		field, err := r.ReadByte()
		if err != nil || field == 0 {
			return err
		}
		if field>>4 == 0 { // its number follows
			if _, err := binary.ReadUvarint(r); err != nil {
				return err
			}
		}
		if kind := field & 15; kind != thriftTrue && kind != thriftFalse {
			if err := passValue(r, kind, most, depth); err != nil {
				return err
			}
		}
	}
}

func passValue(r *bufio.Reader, kind byte, most int64, depth int) error {
	switch {
	case kind <= thriftByte:
		_, err := r.ReadByte()
		return err
	case kind <= thriftInt64:
		_, err := binary.ReadUvarint(r)
		return err
	case kind == thriftDouble:
		_, err := r.Discard(8)
		return err
	case kind == thriftBinary:
		n, err := binary.ReadUvarint(r)
		if err == nil && n > uint64(most) {
			err = fmt.Errorf("a text of %d bytes in a header", n)
		}
		if err == nil {
			_, err = io.CopyN(io.Discard, r, int64(n))
		}
		return err
	case kind == thriftList, kind == thriftSet:
		if depth < deepest {
			return passList(r, most, depth+1)
		}
	case kind == thriftStruct && depth < deepest:
		return passStruct(r, most, depth+1)
	}
	return fmt.Errorf("something of type %d in a header", kind)
}

func passList(r *bufio.Reader, most int64, depth int) error {
	head, err := r.ReadByte()
	n := uint64(head >> 4)
	if n == 15 && err == nil {
		n, err = binary.ReadUvarint(r)
	}
	if err == nil && n > uint64(most) {
		err = fmt.Errorf("a list of %d in a header", n)
	}
	for ; n > 0 && err == nil; n-- {
		err = passValue(r, head&15, most, depth)
	}
	return err
}
