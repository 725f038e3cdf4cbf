// Package coding is CBOR (RFC 8949) as models are saved in it: deterministic, so
// that equal parts have equal hashes, and read with care. Package learn is its
// neighbour, whose Marshal and Unmarshal it is.
package coding

import (
	"bytes"

	"github.com/fxamacker/cbor/v2"
)

// encoding is deterministic, so that equal parts have equal hashes.
var encoding, _ = cbor.CoreDetEncOptions().UserBufferEncMode()

// decoding refuses what no encoder here writes, and allows large models.
var decoding, _ = cbor.DecOptions{
	DupMapKey:        cbor.DupMapKeyEnforcedAPF,
	IndefLength:      cbor.IndefLengthForbidden,
	MaxArrayElements: 1 << 30,
	MaxMapPairs:      1 << 20,
}.DecMode()

// Marshal encodes a value for a part: CBOR, deterministic.
func Marshal(v any) ([]byte, error) { return encoding.Marshal(v) }

// MarshalSized is Marshal for what takes about so many bytes. It takes no more
// memory than that, where Marshal takes and keeps a multiple.
func MarshalSized(v any, size int) ([]byte, error) {
	var data bytes.Buffer
	data.Grow(size)
	err := encoding.MarshalToBuffer(v, &data)
	return data.Bytes(), err
}

// Unmarshal decodes what Marshal wrote.
func Unmarshal(data []byte, v any) error { return decoding.Unmarshal(data, v) }
