package process

import (
	"flag"
	"strconv"
)

// SideBySide is how many parallel tests of a package run at once, unless the command line says it
// (-parallel). Tests that wait for processes may be more than there are cores. TestMain calls it.
func SideBySide(n int) {
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	if given {
		return
	}
	if err := flag.Set("test.parallel", strconv.Itoa(n)); err != nil {
		panic(err)
	}
}
