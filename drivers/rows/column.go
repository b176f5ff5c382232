package rows

import (
	"reflect"
	"slices"
	"strings"
	"time"
)

// Column is one column of a table whose rows hold a T.
type Column[T any] struct {
	Name  string
	index []int // of the field that the column keeps
	fixed bool  // an update never changes it
}

// field points to the field that the column keeps.
func (c Column[T]) field(row *T) any {
	return reflect.ValueOf(row).Elem().FieldByIndex(c.index).Addr().Interface()
}

// Columns are the columns of a table. Names, values and scan targets all come in
// this order.
type Columns[T any] []Column[T]

// ColumnsOf are the columns that a list names, with spaces in between. A column keeps the field of its name, without
// its underscores, or the one behind "=". "!" follows the name of a column that no update changes.
func ColumnsOf[T any](list string) (all Columns[T]) {
	for word := range strings.FieldsSeq(list) {
		name, path, other := strings.Cut(word, "=")
		name, fixed := strings.CutSuffix(name, "!")
		if !other {
			path = strings.ReplaceAll(name, "_", "")
		}
		all = append(all, Column[T]{name, indexOf(reflect.TypeFor[T](), path), fixed})
	}
	return all
}

// indexOf finds a field by the names that lead to it, in whatever case, and panics if there is none.
func indexOf(row reflect.Type, path string) (index []int) {
	for name := range strings.SplitSeq(path, ".") {
		field, ok := row.FieldByNameFunc(func(other string) bool { return strings.EqualFold(name, other) })
		if !ok {
			panic("rows: no field " + path)
		}
		row, index = field.Type, append(index, field.Index...)
	}
	return index
}

// Names joins the names for a SELECT or INSERT.
func (c Columns[T]) Names() string { return c.join(", ", func(name string) string { return name }) }

// List returns the names.
func (c Columns[T]) List() []string {
	names := make([]string, len(c))
	for i, column := range c {
		names[i] = column.Name
	}
	return names
}

// Insert writes the statement that stores a row, with "?" for each value.
func (c Columns[T]) Insert(table string) string {
	marks := c.join(", ", func(string) string { return "?" })
	return "INSERT INTO " + table + " (" + c.Names() + ") VALUES (" + marks + ")"
}

// Set writes the assignments of an UPDATE, with "?" for each value.
func (c Columns[T]) Set() string {
	return c.join(", ", func(name string) string { return name + " = ?" })
}

// Fields points to the fields of a row, one for each column.
func (c Columns[T]) Fields(row *T) []any {
	fields := make([]any, len(c))
	for i, column := range c {
		fields[i] = column.field(row)
	}
	return fields
}

// Values returns what the fields of a row hold, one for each column.
func (c Columns[T]) Values(row *T) []any {
	values := c.Fields(row)
	for i, field := range values {
		values[i] = Value(field)
	}
	return values
}

// Changing returns the columns that an update may change.
func (c Columns[T]) Changing() Columns[T] {
	return slices.DeleteFunc(slices.Clone(c), func(column Column[T]) bool { return column.fixed })
}

// Changed returns the columns that an update may change and whose values differ
// between two versions of a row.
func (c Columns[T]) Changed(from, to *T) (changed Columns[T]) {
	for _, column := range c {
		if !column.fixed && !reflect.DeepEqual(column.field(from), column.field(to)) {
			changed = append(changed, column)
		}
	}
	return changed
}

// Amend changes in a row what an update may change to what another version of it has, as a store then answers it. It
// returns the columns that differed.
func (c Columns[T]) Amend(row, to *T) Columns[T] {
	changed := c.Changed(row, to)
	for _, column := range changed {
		switch field := column.field(row).(type) {
		case *time.Time:
			*field = Time(Micro(*column.field(to).(*time.Time)))
		case *time.Duration:
			*field = column.field(to).(*time.Duration).Truncate(time.Microsecond)
		case *[]string:
			*field = append([]string(nil), *column.field(to).(*[]string)...)
		default:
			reflect.ValueOf(field).Elem().Set(reflect.ValueOf(column.field(to)).Elem())
		}
	}
	return changed
}

// Pick returns the columns with these names, and panics if one is missing.
func (c Columns[T]) Pick(names ...string) Columns[T] {
	picked := make(Columns[T], len(names))
	for i, name := range names {
		at := slices.IndexFunc(c, func(column Column[T]) bool { return column.Name == name })
		if at < 0 {
			panic("rows: no column " + name)
		}
		picked[i] = c[at]
	}
	return picked
}

// Without returns the columns but for one.
func (c Columns[T]) Without(name string) Columns[T] {
	return slices.DeleteFunc(slices.Clone(c), func(column Column[T]) bool { return column.Name == name })
}

// Have reports whether others are all among the columns.
func (c Columns[T]) Have(others Columns[T]) bool {
	return !slices.ContainsFunc(others, func(other Column[T]) bool {
		return !slices.ContainsFunc(c, func(column Column[T]) bool { return column.Name == other.Name })
	})
}

// Zero is what PostgreSQL keeps of a field that is zero: a time, a truth, a number or a text.
func Zero(field any) string {
	switch field.(type) {
	case *time.Time:
		return `'-infinity'`
	case *bool:
		return `false`
	case *int64:
		return `0`
	}
	return `''`
}

// Value is the value of a field that Fields points to.
func Value(field any) any { return reflect.ValueOf(field).Elem().Interface() }

func (c Columns[T]) join(separator string, text func(name string) string) string {
	texts := c.List()
	for i := range texts {
		texts[i] = text(texts[i])
	}
	return strings.Join(texts, separator)
}
