// Package rebuild parses URLs and PEM bundles from outside and builds them again,
// part by part; and turns faults of a YAML file into the broker's errors.
//
// It exists so that every driver treats input from outside alike: no input is
// passed on unparsed, and input that is not understood is an error that names the
// field and repeats no value, because any value may be a credential.
package rebuild
