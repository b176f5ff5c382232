//go:build !linux

package secret

// Harden does nothing on this system; see the Linux version for what it is for.
func Harden() error { return nil }
