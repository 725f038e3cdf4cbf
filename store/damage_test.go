package store

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/internal/bounded"
	"github.com/accrete-ml/accrete/learn"
)

// headOf is the head of a file of some format.
func headOf(kind fileKind, format uint32) []byte {
	b := append([]byte(magic), byte(kind))
	b = binary.LittleEndian.AppendUint32(b, format)
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
}

// mustFrame is an export of one frame, not sealed.
func mustFrame(c contents) []byte {
	b, err := encodeFrame(newHead(exportFile), int64(headSize), c, nil)
	if err != nil {
		panic(err)
	}
	return b
}

// sealed adds the checksum that an export ends with.
func sealed(b []byte) []byte {
	sum := sha256.Sum256(b)
	return append(b, sum[:]...)
}

// Whatever byte of a log changes, each version is what was saved, or cannot
// be loaded; the newest is the one that was saved last, or an error. Nothing is
// lost without a word, no number is used twice, and what cannot be read is
// kept aside.
func TestEveryDamagedByteOfALog(t *testing.T) {
	d := homeDisk()
	s := smallStore(d)
	s.minWaste = 1 << 30
	h := &heap{derived: 40}
	saved := map[int]*heap{}
	grouped := 0
	for i := range 6 {
		h = h.with(fmt.Sprint(i), []byte(strings.Repeat(fmt.Sprint(i), 10+30*i)))
		mustSave(t, s, "m", h)
		saved[i+1] = h
		if i == 3 { // part of the log in groups, part frame by frame
			err := s.Write(ctx, "m", func(tx *Tx) error {
				defer func() { grouped = int(tx.log.end) }()
				return tx.compact(tx.log.versions)
			})
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	log := d.lookup(s.logPath("m"))
	note := d.lookup(notePath(s.logPath("m")))
	sound, noted := log.data, slices.Clone(note.data)
	for i := range sound {
		flip := []byte{0x01, 0x80, 0xff}[i%3]
		log.data, note.data = slices.Clone(sound), slices.Clone(noted)
		log.data[i] ^= flip
		readable := 0
		for n, want := range saved {
			m, _, err := s.Load(fmt.Sprintf("m@%d", n))
			if err == nil && !same(m, want) {
				t.Fatalf("byte %d: version %d is another", i, n)
			}
			if err == nil {
				readable++
			}
		}
		if m, v, err := s.Load("m"); err == nil && (v.Number != len(saved) || !same(m, saved[v.Number])) {
			t.Fatalf("byte %d: the newest version is %v, and no error", i, v)
		}
		versions, err := s.Log("m")
		if err == nil && len(versions) < len(saved) {
			t.Fatalf("byte %d: %d versions, and no error", i, len(versions))
		}
		if i > grouped && readable < 4 {
			t.Fatalf("byte %d: only %d versions can be read", i, readable)
		}
		// And one can go on, from what there is.
		v, err := s.Save(ctx, "m", h, Version{Kind: Update})
		if err != nil || v.Number != len(saved)+1 {
			t.Fatalf("byte %d: went on with %v (%v)", i, v, err)
		}
		if kept, _ := d.Names(s.damagedDir("m")); i > grouped && len(kept) == 0 && len(holesOf(t, s)) == 0 {
			t.Fatalf("byte %d: what was damaged is gone", i)
		}
		mustLoad(t, s, "m", h)
		for n, want := range saved {
			m, _, err := s.Load(fmt.Sprintf("m@%d", n))
			if err == nil && !same(m, want) {
				t.Fatalf("byte %d: version %d is another after saving", i, n)
			}
		}
	}
	for cut := range sound {
		log.data, note.data = slices.Clone(sound[:cut]), slices.Clone(noted)
		_, v, err := s.Load("m")
		if err == nil {
			t.Fatalf("cut at %d: %v and no error", cut, v)
		}
		wantError(t, err, learn.ErrDamaged, s.logPath("m"))
		// Without the note, it is an unfinished change: one that was saved.
		note.data = nil
		if m, v, err := s.Load("m"); err == nil && !same(m, saved[v.Number]) {
			t.Fatalf("cut at %d: the newest version is wrong", cut)
		}
	}
}

// holesOf returns the stretches of a log that cannot be read.
func holesOf(t *testing.T, s *Store) []hole {
	t.Helper()
	l, err := s.openModel("m")
	if err != nil {
		t.Fatal(err)
	}
	defer l.close()
	return l.holes
}

// What is left of a damaged log says what to do, and can be worked with.
func TestDamageInWords(t *testing.T) {
	s := openTemp(t)
	s.largePart = 1000
	h := &heap{}
	for i := range 4 {
		h = h.with(fmt.Sprint(i), noise(400, uint64(i)))
		mustSave(t, s, "m", h)
	}
	path := s.logPath("m")
	sound, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	l, err := s.openModel("m")
	if err != nil {
		t.Fatal(err)
	}
	l.close()
	second := l.frames[1]
	rewrite := func(change func(b []byte) []byte) {
		t.Helper()
		if err := os.WriteFile(path, change(slices.Clone(sound)), 0o600); err != nil {
			t.Fatal(err)
		}
	}

	rewrite(func(b []byte) []byte { b[second.at+20]++; return b })
	_, _, err = s.Load("m@2")
	wantError(t, err, learn.ErrDamaged, "version 2", path, "restore m@1", "import an export")
	_, _, err = s.Load("m@3")
	wantError(t, err, learn.ErrDamaged, "m@3 cannot be read", path, "restore m@1")
	wantError(t, s.Export("m@3", filepath.Join(t.TempDir(), "x")), learn.ErrDamaged)
	_, err = s.Restore(ctx, "m@4", l.version(l.versions[0]).At)
	wantError(t, err, learn.ErrDamaged)
	versions, err := s.Log("m")
	wantError(t, err, learn.ErrDamaged, path, "versions 1, 3–4")
	if len(versions) != 3 {
		t.Errorf("%v", versions)
	}
	if v, err := s.Restore(ctx, "m@1", versions[0].At); err != nil || v.Number != 5 {
		t.Errorf("%v, %v", v, err)
	}
	mustLoad(t, s, "m", &heap{sources: h.sources[:1]})
	// Parts that were lost are written again, under numbers of their own.
	mustSave(t, s, "m", h)
	mustLoad(t, s, "m", h)
	if _, _, err = s.Load("m@3"); err == nil {
		t.Error("a version is back from the dead")
	}
	if err := s.Delete(ctx, "m@3"); err != nil {
		t.Error(err)
	}
	mustLoad(t, s, "m", h)

	rewrite(func(b []byte) []byte { copy(b, "garbage"); return b })
	mustLoad(t, s, "m@2", &heap{sources: h.sources[:2]})
	rewrite(func([]byte) []byte { return []byte("garbage") })
	_, _, err = s.Load("m")
	wantError(t, err, learn.ErrDamaged, path, "delete the model m")
	_, err = s.Models()
	wantError(t, err, learn.ErrDamaged, path)
	_, err = s.Save(ctx, "m", h, Version{Kind: Learn})
	wantError(t, err, learn.ErrDamaged, path, "delete the model m")
	if err := s.Delete(ctx, "m"); err != nil {
		t.Fatal(err)
	}
	mustSave(t, s, "m", h)
}

func TestDamagedPartFile(t *testing.T) {
	s := openTemp(t)
	s.largePart = 1000
	one := (&heap{derived: 3000}).with("x", noise(5000, 1))
	two := one.with("y", noise(5000, 2))
	mustSave(t, s, "m", one)
	mustSave(t, s, "m", two)
	file := func(data []byte) string {
		return filepath.Join(s.partsDir("m"), fmt.Sprintf("%x", sha256.Sum256(data)))
	}
	damage := func(path string) {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		b[len(b)/2]++
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	damage(file(two.total()) + "-derived")
	mustLoad(t, s, "m", two) // it can do without

	damage(file(two.sources[1].Data))
	_, _, err := s.Load("m")
	wantError(t, err, learn.ErrDamaged, "m@2", `"source y"`, s.partsDir("m"), "restore m@1")

	other := file(two.sources[0].Data)
	if err := os.Rename(other, file(two.sources[1].Data)); err != nil {
		t.Fatal(err)
	}
	_, _, err = s.Load("m@2")
	wantError(t, err, learn.ErrDamaged, "m@2")
	_, _, err = s.Load("m@1")
	wantError(t, err, learn.ErrDamaged, "m@1", `"source x"`, other)

	// A part that is gone is written again when it is saved again.
	v := mustSave(t, s, "m", one)
	mustLoad(t, s, v.String(), one)
	mustLoad(t, s, "m@1", one)

	for name, b := range map[string][]byte{"a log": newHead(logFile), "nothing": newHead(partFile), "empty": nil} {
		if err := os.WriteFile(other, b, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, _, err := s.Load("m"); err == nil {
			t.Errorf("read %s for a part", name)
		}
	}
}

func TestEveryDamagedByteOfAnExport(t *testing.T) {
	s := openTemp(t)
	h := (&heap{derived: 40}).with("a", []byte(strings.Repeat("abc", 100))).with("b", noise(100, 1))
	mustSave(t, s, "m", h)
	path := filepath.Join(t.TempDir(), "m.accrete")
	if err := s.Export("m", path); err != nil {
		t.Fatal(err)
	}
	sound, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := range sound {
		b := slices.Clone(sound)
		b[i] ^= 0x10
		if _, _, err := Read(bytes.NewReader(b)); err == nil {
			t.Fatalf("byte %d changed unseen", i)
		}
		if _, _, err := Read(bytes.NewReader(sound[:i])); err == nil {
			t.Fatalf("cut at %d unseen", i)
		}
		// Behind the outer checksum there are others.
		b = sealed(b[:len(b)-sha256.Size])
		if m, _, err := Read(bytes.NewReader(b)); err == nil && !same(m, h) {
			t.Fatalf("byte %d changed unseen", i)
		}
	}
}

// The runs in which lists of parts are written give the same lists back.
func TestIDList(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 1000 {
		ids := make([]uint64, rng.IntN(20))
		for i := range ids {
			ids[i] = 1 + rng.Uint64N(6)
		}
		list := packIDs(ids)
		if err := list.check(); err != nil {
			t.Fatal(err)
		}
		if got := list.unpack(); !slices.Equal(got, ids) {
			t.Fatalf("%v became %v", ids, got)
		}
	}
	if list := packIDs([]uint64{1, 2, 4, 6, 8, 9}); !slices.Equal(list, idList{1, 2, 2, 3, 1, 1}) {
		t.Errorf("%v", list)
	}
	for _, bad := range []idList{{1}, {0, 1}, {-1, 1}, {1, 0}, {1, 1 << 40}, {1 << 50, 1}, {1 << 30, 1 << 20}, {1, 1 << 22, 1, 1}} {
		if bad.check() == nil {
			t.Errorf("%v is taken for sound", bad)
		}
	}
}

func FuzzLog(f *testing.F) {
	d := homeDisk()
	s := smallStore(d)
	h := &heap{derived: 10}
	for i := range 3 {
		h = h.with(fmt.Sprint(i), []byte{byte(i)})
		mustSave(f, s, "m", h)
	}
	f.Add(d.lookup(s.logPath("m")).data)
	f.Add(mustFrame(contents{Name: "a", Next: 9, Versions: []record{{Number: 3, Parts: idList{1, 2}}}}))
	f.Add([]byte("accreteL"))
	f.Fuzz(func(t *testing.T, b []byte) {
		defer bounded.Start(t, len(b))()
		d := homeDisk()
		s := smallStore(d)
		mustSave(t, s, "m", &heap{})
		d.lookup(s.logPath("m")).data = b
		s.Models()
		s.Log("m")
		s.Load("m")
		if _, err := s.Save(ctx, "m", h, Version{Kind: Learn}); err == nil {
			mustLoad(t, s, "m", h)
		}
	})
}

// FuzzFrame feeds contents of frames with good checksums.
func FuzzFrame(f *testing.F) {
	for _, c := range []contents{
		{Name: "a", Next: 9, Versions: []record{{Number: 3, Parts: idList{1, 2}, Learner: heapName}}},
		{Parts: []partEntry{{ID: 1, Size: 0, Hash: make([]byte, 32)}}},
		{Parts: []partEntry{{ID: 2, Size: 1 << 49, Hash: make([]byte, 32)}}, Packed: true},
	} {
		b := mustFrame(c)[headSize:]
		_, n := binary.Uvarint(b[2:])
		f.Add(b[2+n : len(b)-4])
	}
	f.Fuzz(func(t *testing.T, payload []byte) {
		defer bounded.Start(t, len(payload))()
		b := append(newHead(exportFile), frameMark...)
		b = binary.AppendUvarint(b, uint64(len(payload)))
		b = append(b, payload...)
		b = binary.LittleEndian.AppendUint32(b, frameSum(int64(headSize), b[headSize:]))
		Read(bytes.NewReader(sealed(b)))
	})
}

func FuzzExport(f *testing.F) {
	s := openTemp(f)
	mustSave(f, s, "m", (&heap{derived: 10}).with("x", []byte("y")))
	path := filepath.Join(f.TempDir(), "m")
	if err := s.Export("m", path); err != nil {
		f.Fatal(err)
	}
	b, _ := os.ReadFile(path)
	f.Add(b[:len(b)-sha256.Size])
	f.Fuzz(func(t *testing.T, b []byte) {
		defer bounded.Start(t, len(b))()
		Read(bytes.NewReader(b))
		Read(bytes.NewReader(sealed(b)))
	})
}

// FuzzUnpack feeds compressed bytes that claim a size.
func FuzzUnpack(f *testing.F) {
	packed, _ := pack(make([]byte, 1000))
	f.Add(packed, int64(1000))
	f.Add(packed, int64(maxBytes))
	f.Fuzz(func(t *testing.T, b []byte, size int64) {
		defer bounded.Start(t, len(b))()
		if size < 0 || size > leastProportion {
			return // no part of an import is larger
		}
		if raw, err := unpack(b, size); err == nil && int64(len(raw)) != size {
			t.Errorf("%d bytes instead of %d", len(raw), size)
		}
	})
}

// FuzzReference: what is taken for a reference to a model stays within its
// folder, and says the same again.
func FuzzReference(f *testing.F) {
	for _, ref := range []string{"votes", "votes@3", "../x", "a@0", "@", "a@99999999999", "ünï & co", ".hidden", "\x00"} {
		f.Add(ref)
	}
	f.Fuzz(func(t *testing.T, ref string) {
		defer bounded.Start(t, len(ref))()
		name, number, err := ParseRef(ref)
		if err != nil {
			if strings.ContainsAny(err.Error(), "\n\x1b") {
				t.Errorf("%q: %q is not one plain line", ref, err)
			}
			return
		}
		folder := escape(name)
		if !filepath.IsLocal(folder) || strings.ContainsAny(folder, "/\\:") || len(folder) > longestFolder {
			t.Errorf("%q is kept in %q", name, folder)
		}
		if len(folder) < longestFolder && unescape(folder) != name {
			t.Errorf("%q is kept in %q, which is %q", name, folder, unescape(folder))
		}
		if number > 0 {
			again, n, err := ParseRef((Version{Model: name, Number: number}).String())
			if err != nil || again != name || n != number {
				t.Errorf("%q is %q@%d (%v)", ref, again, n, err)
			}
		}
	})
}

func TestUnpack(t *testing.T) {
	raw := make([]byte, trusted+1)
	packed, ok := pack(raw)
	if !ok {
		t.Fatal("zeros do not compress")
	}
	for _, size := range []int64{trusted + 1, trusted + 2, trusted - 1, 1 << 49} {
		got, err := unpack(packed, size)
		if (err == nil) != (size == int64(len(raw))) || err == nil && !bytes.Equal(got, raw) {
			t.Errorf("size %d: %d bytes, %v", size, len(got), err)
		}
	}
	if _, err := unpack([]byte("nonsense"), trusted+1); err == nil {
		t.Error("nonsense was unpacked")
	}
}

// Frames whose checksum is right and whose contents are not are damage.
func TestImpossibleContents(t *testing.T) {
	hash := make([]byte, sha256.Size)
	for name, c := range map[string]contents{
		"no number":      {Versions: []record{{}}},
		"huge number":    {Versions: []record{{Number: 1 << 40}}},
		"huge next":      {Next: 1 << 40},
		"odd parts":      {Versions: []record{{Number: 1, Parts: idList{1}}}},
		"odd derived":    {Versions: []record{{Number: 1, Derived: idList{0, 1}}}},
		"no id":          {Parts: []partEntry{{Hash: hash}}},
		"short hash":     {Parts: []partEntry{{ID: 1, Hash: hash[:3]}}},
		"negative size":  {Parts: []partEntry{{ID: 1, Hash: hash, Size: -1}}},
		"sizes too much": {Parts: []partEntry{{ID: 1, Hash: hash, Size: 1}}},
		"overflow":       {Packed: true, Parts: []partEntry{{ID: 1, Hash: hash, Size: maxBytes}, {ID: 2, Hash: hash, Size: maxBytes}}},
	} {
		_, err := appendFrame(nil, 0, c, nil)
		wantError(t, err, nil, "would not read back")
		_, _, err = Read(bytes.NewReader(sealed(mustFrame(c))))
		wantError(t, err, learn.ErrDamaged, "damaged or cut off at byte 16")
		if t.Failed() {
			t.Fatal(name)
		}
	}
}

// twins is a model with a derived part of the same bytes as another.
type twins struct {
	*heap
	data []byte
}

func (w twins) Parts() ([]learn.Part, error) {
	return []learn.Part{
		{Name: "head", Data: make([]byte, 4)},
		{Name: "source a", Data: w.data},
		{Name: "total", Derived: true, Data: w.data},
	}, nil
}

func TestDroppingADerivedPartSparesItsTwin(t *testing.T) {
	s := openTemp(t)
	s.largePart = 100
	h := (&heap{}).with("a", noise(5000, 1))
	if _, err := s.Save(ctx, "m", twins{h, h.sources[0].Data}, Version{Kind: Learn}); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the two newest versions keep theirs
		mustSave(t, s, "m", h)
	}
	mustLoad(t, s, "m", h)
	mustLoad(t, s, "m@1", h)
}
