// Package rebuild makes what people hand in anew, part by part: URLs and
// PEM bundles; and turns faults of a YAML file into the broker's errors.
//
// It exists so that every driver treats what comes from outside alike: nothing is
// passed on as it came, and what is not understood is an error that names the
// field and repeats no value, for any of it may be a credential.
package rebuild
