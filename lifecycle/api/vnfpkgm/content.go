package vnfpkgm

import (
	"archive/zip"
	"bytes"
	"errors"
	"io"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/api"
	"github.com/vimbroker/vimbroker/broker/api/sol013"
	"github.com/vimbroker/vimbroker/lifecycle/vnfpkg"
)

const (
	zipType  = "application/zip"
	textType = "text/plain"
)

// content answers with the whole package, or with a range of it.
func (s *server) content(c *api.Call) (api.Answer, error) {
	r, err := s.catalog.Read(c.Context(), c.Principal, ref(c))
	if err != nil {
		return api.Answer{}, err
	}
	h := http.Header{"Content-Type": {zipType}, "Etag": {strconv.Quote(r.SHA256)}}
	return seekable(c, h, r.Content)
}

// seekable answers with content that can be read in ranges (RFC 9110 clause 14). A later
// failure cuts the answer off.
func seekable(c *api.Call, h http.Header, content io.ReadSeeker) (api.Answer, error) {
	serve := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { http.ServeContent(w, r, "", time.Time{}, content) })
	if c.Header.Get("Range") != "" {
		asked, seen := c.Clone(c.Context()), probe{h.Clone(), 0}
		asked.Method = http.MethodHead
		if serve(&seen, asked); seen.status == http.StatusRequestedRangeNotSatisfiable {
			size, err := content.Seek(0, io.SeekEnd)
			if err != nil {
				return api.Answer{}, err
			}
			bytes := strconv.FormatInt(size, 10)
			return api.Answer{}, &api.Refusal{
				Kind: sol013.ErrRange, Header: http.Header{"Content-Range": {"bytes */" + bytes}},
				Faults: []api.Fault{{Location: "header", Field: "Range", Message: "has no part of the content, which has " + bytes + " bytes"}},
			}
		}
	}
	return api.Answer{Header: h, Serve: serve}, nil
}

// probe is an answer of which only the status counts.
type probe struct {
	header http.Header
	status int
}

func (p *probe) Header() http.Header         { return p.header }
func (p *probe) Write(b []byte) (int, error) { return len(b), nil }
func (p *probe) WriteHeader(status int)      { p.status = status }

// files opens the archive of the package that a call names.
func (s *server) files(c *api.Call) (*vnfpkg.CSAR, error) {
	r, err := s.catalog.Read(c.Context(), c.Principal, ref(c))
	if err != nil {
		return nil, err
	}
	return r.Files()
}

// vnfd answers with the descriptor: a ZIP archive of its files, or the one file as text for
// a caller who wants nothing else (SOL003 clause 10.4.4.3.2).
func (s *server) vnfd(c *api.Call) (api.Answer, error) {
	files, err := s.files(c)
	if err != nil {
		return api.Answer{}, err
	}
	names, err := files.Definitions()
	if err != nil {
		return api.Answer{}, err
	}
	if sol013.Accepts(c, textType) && !sol013.Accepts(c, zipType) {
		if len(names) > 1 {
			return api.Answer{}, &api.Refusal{Kind: sol013.ErrNotAcceptable, Detail: "the VNFD has more files than one: accept " + zipType}
		}
		return whole(c, files, names[0], textType)
	}
	if files.Has(vnfpkg.MetaFile) {
		names = append([]string{vnfpkg.MetaFile}, names...)
	}
	return archive(files, names), nil
}

func (s *server) manifest(c *api.Call) (api.Answer, error) {
	files, err := s.files(c)
	if err != nil {
		return api.Answer{}, err
	}
	if files.Manifest == "" {
		return api.Answer{}, &broker.Error{Kind: broker.ErrNotFound, Detail: "the package has no manifest"}
	}
	return whole(c, files, files.Manifest, textType)
}

// artifacts answers with all artifacts of the package in one archive.
func (s *server) artifacts(c *api.Call) (api.Answer, error) {
	files, err := s.files(c)
	if err != nil {
		return api.Answer{}, err
	}
	definitions, err := files.Definitions()
	if err != nil {
		return api.Answer{}, err
	}
	var names []string
	for _, a := range files.Artifacts {
		if a.Path != files.Manifest && !slices.Contains(definitions, a.Path) {
			names = append(names, a.Path)
		}
	}
	return archive(files, names), nil
}

// maxWhole bounds the artifacts that are read in ranges, in bytes: they are unpacked in memory.
const maxWhole = 4 << 20

// artifact answers with one file of the package. A small file can be read in ranges.
func (s *server) artifact(c *api.Call) (api.Answer, error) {
	files, err := s.files(c)
	if err != nil {
		return api.Answer{}, err
	}
	path := c.PathValue("path")
	if !files.Has(path) {
		return api.Answer{}, &broker.Error{Kind: broker.ErrNotFound, Detail: "the package has no such artifact"}
	}
	kind := "application/octet-stream"
	for _, a := range files.Artifacts {
		if named, _, err := mime.ParseMediaType(a.ContentType); a.Path == path && err == nil && named != "text/html" {
			kind = named
		}
	}
	content, size, err := files.Stream(path)
	if err != nil {
		return api.Answer{}, err
	}
	if size <= maxWhole {
		content.Close()
		return whole(c, files, path, kind)
	}
	return api.Answer{
		Header: http.Header{"Content-Type": {kind}, "Content-Length": {strconv.FormatInt(size, 10)}},
		Serve: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			defer content.Close()
			if _, err := io.Copy(w, content); err != nil {
				panic(http.ErrAbortHandler) // the caller must see that it is not whole
			}
		}),
	}, nil
}

// whole answers with a file that fits into memory.
func whole(c *api.Call, files *vnfpkg.CSAR, name, kind string) (api.Answer, error) {
	text, err := files.Read(name)
	if err != nil {
		return api.Answer{}, unreadable(err)
	}
	return seekable(c, http.Header{"Content-Type": {kind}}, bytes.NewReader(text))
}

// archive answers with files of the package, repacked while they are sent.
func archive(files *vnfpkg.CSAR, names []string) api.Answer {
	return api.Answer{Header: http.Header{"Content-Type": {zipType}}, Serve: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		out := zip.NewWriter(w)
		for _, name := range names {
			if pack(out, files, name) != nil {
				panic(http.ErrAbortHandler) // the caller must see that it is not whole
			}
		}
		if out.Close() != nil {
			panic(http.ErrAbortHandler)
		}
	})}
}

func pack(out *zip.Writer, files *vnfpkg.CSAR, name string) error {
	content, _, err := files.Stream(name)
	if err != nil {
		return err
	}
	defer content.Close()
	entry, err := out.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Deflate})
	if err != nil {
		return err
	}
	_, err = io.Copy(entry, content)
	return err
}

// unreadable is an error about a content that was looked through when it was uploaded.
func unreadable(err error) error {
	var fault *vnfpkg.PackageError
	if errors.As(err, &fault) {
		return &broker.Error{Kind: broker.ErrUnavailable, Detail: "the stored VNF package cannot be read", Cause: err}
	}
	return err
}
