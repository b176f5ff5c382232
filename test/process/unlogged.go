package process

import (
	"flag"
	"testing"
)

// Unlogged runs the tests of a package of which one lets no file of this process grow (RLIMIT_FSIZE), and returns the exit
// code. The package testing logs the files that are opened, for the cache of "go test": a part of that log which it writes
// in that time is an error at the end. So it writes none, and "go test" does not cache what comes of the package.
func Unlogged(m *testing.M) int {
	flag.Parse()
	if err := flag.Set("test.testlogfile", ""); err != nil {
		panic(err) // the flag has another name
	}
	return m.Run()
}
