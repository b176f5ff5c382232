package pull

import (
	"errors"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Reference names a packed chart outside of packages, and what pins it: a digest, or name and version of what has to be
// signed.
//
//	oci://HOST/PATH/NAME[:VERSION][@sha256:DIGEST]    a registry; the digest is the manifest's
//	https://HOST/PATH/NAME:VERSION[@sha256:DIGEST]    a repository at https://HOST/PATH; the digest is the packed chart's
//	https://HOST/PATH/NAME-VERSION.tgz[@sha256:DIGEST]
type Reference struct {
	// Registry: it is at a registry; otherwise it is at a repository, or Packed says that the path is the packed chart's own.
	Registry, Packed bool
	// Host includes the port, if one is given; Path is the rest, without the name at a repository.
	Host, Path    string
	Name, Version string
	// Digest is SHA-256 in hexadecimal; empty if a signature has to do.
	Digest string
}

// Is reports whether s names a chart outside of a package. A manifest elsewhere is none.
func Is(s string) bool {
	return strings.Contains(s, "://") && !slices.Contains([]string{".yaml", ".yml", ".json"}, path.Ext(s))
}

const digestAlgorithm = "sha256:"

var form = sync.OnceValue(func() map[string]*regexp.Regexp {
	const version = `[0-9]{1,9}\.[0-9]{1,9}\.[0-9]{1,9}(?:-[0-9A-Za-z.-]{1,64})?(?:\+[0-9A-Za-z.-]{1,64})?`
	return map[string]*regexp.Regexp{
		"host":     regexp.MustCompile(`^(?:[A-Za-z0-9](?:[A-Za-z0-9.-]{0,252})|\[[0-9A-Fa-f:.]{2,45}\])(?::[0-9]{1,5})?$`),
		"registry": regexp.MustCompile(`^[a-z0-9]+(?:(?:\.|_{1,2}|-+)[a-z0-9]+)*(?:/[a-z0-9]+(?:(?:\.|_{1,2}|-+)[a-z0-9]+)*)*$`),
		"path":     regexp.MustCompile(`^(?:[A-Za-z0-9._~+-]+(?:/[A-Za-z0-9._~+-]+)*)?$`),
		"name":     regexp.MustCompile(`^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,248}[A-Za-z0-9])?$`),
		"version":  regexp.MustCompile(`^v?` + version + `$`),
		"packed":   regexp.MustCompile(`^([A-Za-z0-9][A-Za-z0-9._-]{0,248})-(v?` + version + `)\.tgz$`),
		"digest":   regexp.MustCompile(`^[0-9a-f]{64}$`),
	}
})

// Parse reads a reference. The error says what it must be, and repeats nothing of it: it may hold a password.
func Parse(s string) (r Reference, err error) {
	rest, digest, pinned := strings.Cut(s, "@")
	if pinned {
		var known bool
		if r.Digest, known = strings.CutPrefix(digest, digestAlgorithm); !known || !form()["digest"].MatchString(r.Digest) {
			return r, errors.New("must name no user, and after @ a digest of 64 hexadecimal digits: @sha256:…")
		}
	}
	scheme, rest, _ := strings.Cut(rest, "://")
	r.Host, r.Path, _ = strings.Cut(rest, "/")
	if r.Registry = scheme == "oci"; !r.Registry && scheme != "https" {
		return r, errors.New("must begin with oci:// or https://")
	}
	if !form()["host"].MatchString(r.Host) || len(s) > 1024 {
		return r, errors.New("must name a host, like oci://registry.example.com/charts/web, and no more than 1024 bytes")
	}
	if r.Registry {
		r.Path, r.Version, _ = strings.Cut(r.Path, ":")
		r.Name = r.Path[strings.LastIndex(r.Path, "/")+1:]
		if !form()["registry"].MatchString(r.Path) {
			return r, errors.New("must name a chart in lower case, like oci://registry.example.com/charts/web@sha256:…")
		}
	} else {
		at := strings.LastIndex(r.Path, "/")
		last := r.Path[at+1:]
		if m := form()["packed"].FindStringSubmatch(last); m != nil {
			r.Packed, r.Name, r.Version = true, m[1], m[2]
		} else {
			r.Path = r.Path[:max(at, 0)]
			r.Name, r.Version, _ = strings.Cut(last, ":")
		}
		if !form()["path"].MatchString(r.Path) || strings.Contains("/"+r.Path+"/", "/../") ||
			!form()["name"].MatchString(r.Name) || r.Version == "" {
			return r, errors.New("must name a chart and its version, like https://charts.example.com/stable/web:1.0.0, or a packed chart, " +
				"like https://charts.example.com/web-1.0.0.tgz")
		}
	}
	if r.Version != "" && !form()["version"].MatchString(r.Version) {
		return r, errors.New("must name one version, like 1.0.0, and no range and no moving tag")
	}
	if r.Version == "" && r.Digest == "" {
		return r, errors.New("must pin the chart by its digest: @sha256:…")
	}
	return r, nil
}

// url is the place of what lies at a repository.
func (r Reference) url(name string) string {
	return (&url.URL{Scheme: "https", Host: r.Host, Path: path.Join("/", r.Path, name)}).String()
}
