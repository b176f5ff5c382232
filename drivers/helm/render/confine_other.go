//go:build !unix

package render

import "errors"

// confine is only known on Unix: elsewhere no chart is rendered.
func confine() error { return errors.ErrUnsupported }
