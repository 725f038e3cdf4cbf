package store

import (
	"fmt"
	"testing"
)

// BenchmarkSave adds a version to a model of so many versions, synced.
func BenchmarkSave(b *testing.B) {
	for _, versions := range []int{1, 100, 1000} {
		b.Run(fmt.Sprint(versions), func(b *testing.B) {
			s, h := manyVersions(b, versions)
			b.ReportAllocs()
			for b.Loop() {
				h = h.with(fmt.Sprint(len(h.sources)), noise(350, uint64(len(h.sources))))
				mustSave(b, s, "m", h)
			}
		})
	}
}

// BenchmarkLoad loads the newest of so many versions.
func BenchmarkLoad(b *testing.B) {
	for _, versions := range []int{1, 100, 1000} {
		b.Run(fmt.Sprint(versions), func(b *testing.B) {
			s, _ := manyVersions(b, versions)
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := s.Load("m"); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkLargePart saves a part of 16 MB.
func BenchmarkLargePart(b *testing.B) {
	s := openTemp(b)
	data := noise(16<<20, 1)
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		data[0]++
		mustSave(b, s, "m", (&heap{}).with("x", data))
	}
}

func manyVersions(b *testing.B, versions int) (*Store, *heap) {
	s := openTemp(b)
	synced := s.disk
	s.disk = unsynced{synced}
	h := &heap{derived: 2000}
	for i := range versions {
		h = h.with(fmt.Sprint(i), noise(350, uint64(i)))
		mustSave(b, s, "m", h)
	}
	s.disk = synced
	return s, h
}
