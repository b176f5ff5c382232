package keydir

import "testing"

// A folder of keys is two lower-case hexadecimal digits.
func TestFoldersOfKeys(t *testing.T) {
	for name, want := range map[string]bool{"0f": true, "": false, "0": false, "0f0f": false, "0F": false, "0g": false} {
		if isShard(name) != want {
			t.Errorf("%q is a folder of keys: %t", name, !want)
		}
	}
}
