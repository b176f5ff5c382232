package broker

import (
	"cmp"
	"iter"
)

// Pages walks what list returns, page by page: page is that of what list asks for, in which no size is the largest.
func Pages[T any](page *Page, list func() ([]T, string, error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for page.Size = cmp.Or(page.Size, MaxPage); ; {
			found, next, err := list()
			if err != nil {
				var none T
				yield(none, err)
				return
			}
			for _, one := range found {
				if !yield(one, nil) {
					return
				}
			}
			if page.Token = next; next == "" {
				return
			}
		}
	}
}
