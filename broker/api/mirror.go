package api

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"
)

// Shown returns a function that makes an O, a type of the wire, of a T of the domain. Each field of O takes what T has under
// the same name, in itself or in a part that exceptions name ("Current.Target"), or what they lead to ("Type=Kind"). A field
// that they lead nowhere ("Status=") is the caller's. Times are shown in UTC and durations as texts; what is behind pointers
// and in lists follows field by field. The function panics where a field has no counterpart, and so does [Complete].
func Shown[T, O any](exceptions string) func(T) O { return mirror[T, O](false, exceptions) }

// Asked is Shown the other way round: each field of I, a type of the wire, is what a T has.
func Asked[I, T any](exceptions string) func(I) T { return mirror[I, T](true, exceptions) }

// mirrors are all of the program, which clients do not wait for.
var mirrors []func() setter

// Complete makes ready what [Shown] and [Asked] have returned: no server starts that forgets a field.
func Complete() {
	for _, ready := range mirrors {
		ready()
	}
}

func mirror[From, To any](asked bool, exceptions string) func(From) To {
	set := sync.OnceValue(func() setter { return structure(reflect.TypeFor[To](), reflect.TypeFor[From](), asked, exceptions) })
	mirrors = append(mirrors, set)
	return func(from From) (to To) {
		set()(reflect.ValueOf(&to).Elem(), reflect.ValueOf(&from).Elem())
		return to
	}
}

// setter makes a value of another.
type setter func(to, from reflect.Value)

func structure(to, from reflect.Type, asked bool, exceptions string) setter {
	wire, domain := to, from
	if asked {
		wire, domain = from, to
	}
	leads, parts := map[string]string{}, []string{""}
	for word := range strings.FieldsSeq(exceptions) {
		if name, path, is := strings.Cut(word, "="); is {
			leads[name] = path
		} else {
			parts = append(parts, word+".")
		}
	}
	var all []setter
	for _, f := range reflect.VisibleFields(wire) {
		path, exception := leads[f.Name]
		delete(leads, f.Name)
		if f.Anonymous && f.Type.Kind() == reflect.Struct || len(f.Index) > 1 && wire.Field(f.Index[0]).Type.Kind() == reflect.Pointer ||
			exception && path == "" {
			continue
		}
		other := counterpart(domain, parts, cmp.Or(path, f.Name))
		into, of := f, other
		if asked {
			into, of = other, f
		}
		set := value(into.Type, of.Type, asked, f.Tag.Get("json"))
		all = append(all, func(to, from reflect.Value) {
			if v, err := from.FieldByIndexErr(of.Index); err == nil { // otherwise what holds it is nil
				set(to.FieldByIndex(into.Index), v)
			}
		})
	}
	if len(leads) > 0 {
		panic(fmt.Sprintf("%v has no fields %v", wire, leads))
	}
	return func(to, from reflect.Value) {
		for _, set := range all {
			set(to, from)
		}
	}
}

// counterpart finds a field by the names that lead to it, from a type or from a part of it.
func counterpart(domain reflect.Type, parts []string, path string) reflect.StructField {
	for _, part := range parts {
		f, found := reflect.StructField{Type: domain}, true
		for name := range strings.SplitSeq(part+path, ".") {
			in, index := f.Type, f.Index
			if in.Kind() == reflect.Pointer {
				in = in.Elem()
			}
			if f, found = in.FieldByName(name); !found {
				break
			}
			f.Index = slices.Concat(index, f.Index)
		}
		if found {
			return f
		}
	}
	panic(fmt.Sprintf("%v has no field %s", domain, path))
}

// value is the setter of one field, whose tag is that of the wire.
func value(to, from reflect.Type, asked bool, tag string) setter {
	zero := time.Duration(0).String()
	if strings.Contains(tag, ",omitempty") {
		zero = ""
	}
	kind, was := to.Kind(), from.Kind()
	switch {
	case to == reflect.TypeFor[time.Time]() && to == from:
		return func(to, from reflect.Value) { to.Set(reflect.ValueOf(from.Interface().(time.Time).UTC())) }
	case from == reflect.TypeFor[time.Duration]() && kind == reflect.String:
		return func(to, from reflect.Value) {
			if to.SetString(zero); !from.IsZero() {
				to.SetString(from.Interface().(time.Duration).String())
			}
		}
	case from.AssignableTo(to):
		return reflect.Value.Set
	case kind == was && (kind <= reflect.Float64 || kind == reflect.String),
		kind == reflect.String && was == reflect.Slice && from.ConvertibleTo(to): // of bytes
		return func(to, from reflect.Value) { to.Set(from.Convert(to.Type())) }
	case kind == reflect.Struct && was == kind:
		return structure(to, from, asked, "")
	case kind == reflect.Slice && was == kind:
		each := value(to.Elem(), from.Elem(), asked, "")
		return func(to, from reflect.Value) {
			to.Grow(from.Len())
			to.SetLen(from.Len())
			for i := range from.Len() {
				each(to.Index(i), from.Index(i))
			}
		}
	case kind == reflect.Pointer && (was == kind || was == reflect.Struct):
		if was == kind {
			from = from.Elem()
		}
		set := value(to.Elem(), from, asked, "")
		return func(to, from reflect.Value) {
			if !from.IsZero() {
				to.Set(reflect.New(to.Type().Elem()))
				set(to.Elem(), reflect.Indirect(from))
			}
		}
	}
	panic(fmt.Sprintf("%v is made of no %v", to, from))
}
