package learn

import (
	"bytes"
	"errors"
	"reflect"
	"testing"

	"github.com/accrete-ml/accrete/internal/bounded"
)

func TestMarshalIsDeterministic(t *testing.T) {
	value := map[string]float64{"b": 2, "a": 1, "c": 0.1, "long name": -1e300}
	first, err := Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	for range 20 {
		if again, _ := Marshal(value); !bytes.Equal(again, first) {
			t.Fatal("the same value is encoded in two ways")
		}
	}
	var back map[string]float64
	if err := Unmarshal(first, &back); err != nil || !reflect.DeepEqual(back, value) {
		t.Errorf("read back as %v, %v", back, err)
	}
}

func TestUnmarshalRefuses(t *testing.T) {
	for what, data := range map[string][]byte{
		"nothing":           {},
		"a key twice":       {0xa2, 0x61, 'a', 1, 0x61, 'a', 2},
		"indefinite length": {0x9f, 1, 0xff},
		"cut short":         {0x82, 1},
		"bytes behind":      {1, 1},
	} {
		var v any
		if err := Unmarshal(data, &v); err == nil {
			t.Errorf("%s: accepted as %v", what, v)
		}
	}
}

func TestEncodeDecode(t *testing.T) {
	m := &echoModel{parts: []Part{{Name: "a", Data: []byte("1")}, {Name: "b", Derived: true, Data: []byte{}}}}
	data, err := Encode(m)
	if err != nil {
		t.Fatal(err)
	}
	back, err := Decode(data)
	if err != nil {
		t.Fatal(err)
	}
	if got := back.(*echoModel).parts; !reflect.DeepEqual(got, m.parts) {
		t.Errorf("parts %v, want %v", got, m.parts)
	}
	if _, err := Encode(&echoModel{}); err == nil {
		t.Error("a model that cannot be saved is encoded")
	}
}

func TestDecodeRefuses(t *testing.T) {
	if _, err := Decode([]byte("garbage")); !errors.Is(err, ErrDamaged) {
		t.Errorf("garbage: %v", err)
	}
	if _, err := DecodeParts("echo", nil); !errors.Is(err, ErrDamaged) {
		t.Errorf("no parts: %v", err)
	}
	if _, err := DecodeParts("nobody", []Part{{Name: "a"}}); err == nil || errors.Is(err, ErrDamaged) {
		t.Errorf("an unknown learner: %v", err)
	}
}

func FuzzDecode(f *testing.F) {
	data, err := Encode(&echoModel{parts: []Part{{Name: "a", Data: []byte("1")}}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, data []byte) {
		defer bounded.Start(t, len(data))()
		m, err := Decode(data)
		if (m == nil) != (err != nil) {
			t.Errorf("model %v with error %v", m, err)
		}
	})
}
