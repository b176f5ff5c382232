package manifests

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"

	"github.com/vimbroker/vimbroker/lifecycle"
)

// secretAnnotation on any object names variables, separated by commas, that no answer shows.
const secretAnnotation = "vimbroker.io/secret-variables"

// secretName matches the names of secrets.
var secretName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)pass(word|wd|phrase|code)?(_|[0-9]|$)|passw|secret|token|credential|` +
		`(^|_)(pwd|pin|psk|salt|key|keys|pem)(_|[0-9]|$)|apikey|privatekey`)
})

// concealed are the given variables that no answer shows: by their own names, by the annotation of an object, or
// because a Secret holds them. Unreadable manifests conceal all; planning from them reports the fault.
func concealed(given []string, files []lifecycle.Manifest) []string {
	hidden := map[string]bool{}
	err := documents(files, func(d document) error {
		walkObjects(d.root, func(object *yaml.Node) {
			if annotations := child(child(object, "metadata"), "annotations"); annotations != nil {
				for name := range strings.SplitSeq(scalarOf(annotations, secretAnnotation), ",") {
					hidden[strings.TrimSpace(name)] = true
				}
			}
			if scalarOf(object, "kind") == "Secret" && scalarOf(object, "apiVersion") == "v1" {
				for _, key := range []string{"data", "stringData"} {
					references(child(object, key), hidden)
				}
			}
		})
		return nil
	})
	return slices.DeleteFunc(slices.Clone(given), func(name string) bool {
		return err == nil && !hidden[name] && !secretName().MatchString(name)
	})
}

// walkObjects calls each for a document's object, or for the items of a List.
func walkObjects(n *yaml.Node, each func(*yaml.Node)) {
	items := child(n, "items")
	if scalarOf(n, "kind") != "List" || items == nil {
		each(n)
		return
	}
	for _, item := range items.Content {
		each(item)
	}
}

// references adds the variables that a node and all in it name.
func references(n *yaml.Node, to map[string]bool) {
	if n == nil {
		return
	}
	for _, m := range reference().FindAllStringSubmatch(n.Value, -1) {
		to[m[1]] = true
	}
	for _, c := range n.Content {
		references(c, to)
	}
}
