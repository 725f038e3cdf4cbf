// Package setting reads and sets the parameters of learners, which are struct
// fields with tags, by their names.
//
// Package learn shows it to everybody (learn.Set, learn.Options).
package setting

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/accrete-ml/accrete/internal/spell"
)

// Option describes a parameter of a learner: a struct field that carries the
// tags set (its key), default (what its zero value means), doc, and, for a
// choice, oneof (the words it takes, separated by |); for a whole number that
// may be over 100,000, most (its bound); for a text that stands in a file, file.
type Option struct {
	Key, Default, Doc string
	Choices           []string
	File              bool // its value is a file's name; a line end and the file's text follow it
	Model             bool // its value is names of models, with commas; each follows behind a line end, encoded in base 64
}

// Options returns the parameters of a learner, in the order of its fields.
func Options(l any) []Option {
	var options []Option
	for _, f := range parameters(l) {
		o := Option{Key: f.Tag.Get("set"), Default: f.Tag.Get("default"), Doc: f.Tag.Get("doc"), File: f.Tag.Get("file") != "", Model: f.Tag.Get("model") != ""}
		if words := f.Tag.Get("oneof"); words != "" {
			o.Choices = strings.Split(words, "|")
		}
		options = append(options, o)
	}
	return options
}

func parameters(l any) []reflect.StructField {
	t := reflect.TypeOf(l).Elem()
	var fields []reflect.StructField
	for _, f := range reflect.VisibleFields(t) { // also those of embedded structs
		if f.Tag.Get("set") != "" {
			fields = append(fields, f)
		}
	}
	return fields
}

// Set gives a learner's parameter a value, both as text. The
// learner is a pointer to a struct whose parameters are fields of type
// string, bool, int or float64, or pointers to these where zero is a value of
// its own and nil the default, with the tags that Option describes. A field of
// type map[string]string takes every key that has a dot in it, whole: such
// settings are handed on to other learners.
func Set(l any, key, value string) (err error) {
	fields := parameters(l)
	i := slices.IndexFunc(fields, func(f reflect.StructField) bool {
		return f.Tag.Get("set") == key || f.Type.Kind() == reflect.Map && strings.Contains(key, ".")
	})
	if i < 0 {
		known := make([]string, len(fields))
		for i, f := range fields {
			known[i] = f.Tag.Get("set")
		}
		return fmt.Errorf("unknown setting %q%s", key, spell.Hint(key, known))
	}
	f := fields[i]
	v := reflect.ValueOf(l).Elem().FieldByIndex(f.Index)
	if v.Kind() == reflect.Pointer {
		field := v
		v = reflect.New(f.Type.Elem()).Elem()
		defer func() {
			if err == nil {
				field.Set(v.Addr())
			}
		}()
	}
	switch v.Kind() {
	case reflect.String:
		if words := f.Tag.Get("oneof"); words != "" && !slices.Contains(strings.Split(words, "|"), value) {
			return fmt.Errorf("setting %s=%s: expected one of %s", key, value, strings.ReplaceAll(words, "|", ", "))
		}
		v.SetString(value)
	case reflect.Bool:
		b, err := strconv.ParseBool(value)
		if err != nil {
			return fmt.Errorf("setting %s=%s: expected true or false", key, value)
		}
		v.SetBool(b)
	case reflect.Int:
		n, err := strconv.Atoi(value)
		if most := mostOf(f); err != nil || n < -most || n > most {
			return fmt.Errorf("setting %s=%s: expected a whole number of at most %d", key, value, most)
		}
		v.SetInt(int64(n))
	case reflect.Float64:
		x, err := strconv.ParseFloat(value, 64)
		if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
			return fmt.Errorf("setting %s=%s: expected a number", key, value)
		}
		v.SetFloat(x)
	case reflect.Map:
		if v.IsNil() {
			v.Set(reflect.MakeMap(f.Type))
		}
		v.SetMapIndex(reflect.ValueOf(key), reflect.ValueOf(value))
	default:
		return fmt.Errorf("setting %s: its type %v cannot be set", key, f.Type)
	}
	return nil
}

// MostCount bounds whole numbers that do not say their bound (the tag most).
const MostCount = 100_000

func mostOf(f reflect.StructField) int {
	if most, err := strconv.Atoi(f.Tag.Get("most")); err == nil {
		return most
	}
	return MostCount
}

// Or returns what a setting is, or what it stands for where it is left out. For
// settings that are never zero, cmp.Or does.
func Or[T any](given *T, otherwise T) T {
	if given == nil {
		return otherwise
	}
	return *given
}
