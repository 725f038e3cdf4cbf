package store

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/accrete-ml/accrete/internal/bounded"
)

// export is an export of frames.
func export(frames ...func(b []byte) []byte) []byte {
	b := newHead(exportFile)
	for _, f := range frames {
		b = f(b)
	}
	return sealed(b)
}

func frameOf(c contents, blob []byte) func(b []byte) []byte {
	return func(b []byte) []byte {
		b, err := encodeFrame(b, int64(len(b)), c, blob)
		if err != nil {
			panic(err)
		}
		return b
	}
}

// bomb is bytes that unpack to far more: zeros.
func bomb(size int) (packed []byte, raw int64) {
	raw = min(int64(size)<<10, 1<<28)
	var out []byte
	for at := int64(0); at < raw; at += 64 << 20 {
		out = append(out, encoder().EncodeAll(make([]byte, min(raw-at, 64<<20)), nil)...)
	}
	return out, raw
}

// The worst exports that we can think of take no more time and memory than
// their size allows.
func TestWorstExports(t *testing.T) {
	hash := make([]byte, sha256.Size)
	for name, input := range map[string]func(size int) []byte{
		"marks": func(size int) []byte {
			return sealed(append(newHead(exportFile), bytes.Repeat(frameMark, size/2)...))
		},
		"frames within frames": func(size int) []byte {
			b := newHead(exportFile)
			for len(b) < size {
				b = append(b, frameMark...)
				b = binary.AppendUvarint(b, uint64(size-len(b)))
			}
			return sealed(b)
		},
		"a bomb of parts": func(size int) []byte {
			packed, raw := bomb(size)
			return export(frameOf(contents{Name: "m", Packed: true, Parts: []partEntry{{ID: 1, Size: raw, Hash: hash}},
				Versions: []record{{Number: 1, Learner: heapName, Parts: idList{1, 1}}}}, packed))
		},
		"one part again and again": func(size int) []byte {
			data := make([]byte, size)
			sum := sha256.Sum256(data)
			return export(frameOf(contents{Name: "m", Parts: []partEntry{{ID: 1, Size: int64(size), Name: []byte("head"), Hash: sum[:]}},
				Versions: []record{{Number: 1, Learner: heapName, Parts: idList{1, 1, 0, maxParts - 1}}}}, data))
		},
		"an empty part again and again": func(size int) []byte {
			sum := sha256.Sum256(nil)
			return export(frameOf(contents{Name: "m", Parts: []partEntry{{ID: 1, Name: []byte("head"), Hash: sum[:]}},
				Versions: []record{{Number: 1, Learner: heapName, Parts: idList{1, 1, 0, maxParts - 1}}}}, nil))
		},
		"many versions": func(size int) []byte {
			versions := make([]record, size/24)
			for i := range versions {
				versions[i] = record{Number: i + 1, Learner: heapName, Seed: rand.Uint64()}
			}
			return export(frameOf(contents{Name: "m", Versions: versions}, nil))
		},
		"a bomb of contents": func(size int) []byte {
			packed, raw := bomb(size)
			payload := binary.AppendUvarint(nil, uint64(len(packed)))
			payload = binary.AppendUvarint(payload, uint64(min(raw, 1<<31)))
			payload = append(payload, packed...)
			return export(func(b []byte) []byte {
				at := len(b)
				b = append(b, frameMark...)
				b = binary.AppendUvarint(b, uint64(len(payload)))
				b = append(b, payload...)
				return binary.LittleEndian.AppendUint32(b, frameSum(int64(at), b[at:]))
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			bounded.Worst(t, input, func(b []byte) { Read(bytes.NewReader(b)) })
		})
	}
}

// A damaged log that looks like a frame at every byte is read in the end.
func TestWorstLog(t *testing.T) {
	d := homeDisk()
	s := smallStore(d)
	mustSave(t, s, "m", &heap{})
	bounded.Worst(t, func(size int) []byte {
		b := newHead(logFile)
		for len(b) < size {
			b = append(b, frameMark...)
			b = binary.AppendUvarint(b, uint64(size-len(b)))
		}
		return b
	}, func(b []byte) {
		d.lookup(s.logPath("m")).data = b
		s.Load("m")
	})
}
