package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
)

// platform is a system that programs are built for.
type platform struct{ os, arch string }

func (p platform) String() string { return p.os + "-" + p.arch }

// ending of the names of programs.
func (p platform) ending() string {
	if p.os == "windows" {
		return ".exe"
	}
	return ""
}

// choose sets the platforms: those of the server, and those of the command line alone. here leaves all but this machine's
// out, for a quick look.
func (r *release) choose(here bool) {
	r.servers = []platform{{"linux", "amd64"}, {"linux", "arm64"}}
	r.clients = []platform{{"darwin", "amd64"}, {"darwin", "arm64"}, {"windows", "amd64"}}
	if here {
		r.servers, r.clients = []platform{{"linux", runtime.GOARCH}}, nil
	}
}

// platforms are all that are released.
func (r *release) platforms() []platform { return slices.Concat(r.servers, r.clients) }

// programs are those that a platform has.
func (p platform) programs() []string {
	if p.os == "linux" {
		return []string{"vimbroker", "vimbroker-helm"}
	}
	return []string{"vimbroker"}
}

// binary is where a program of a platform is built.
func (r *release) binary(p platform, program string) string {
	return filepath.Join(r.work, p.String(), program+p.ending())
}

// build compiles every program. No directory and no state of the working tree is in what is built.
func (r *release) build() error {
	for _, p := range r.platforms() {
		for _, program := range p.programs() {
			c := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w -buildid= -X main.version="+r.version,
				"-o", r.binary(p, program), "./cmd/"+program)
			c.Dir, c.Stderr = r.top, os.Stderr
			c.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+p.os, "GOARCH="+p.arch, "GOFLAGS=", "GOWORK=off")
			if err := c.Run(); err != nil {
				return fmt.Errorf("building %s for %s: %w", program, p, err)
			}
		}
	}
	return nil
}

// built are the programs of a platform as files in a directory.
func (r *release) built(p platform, dir string) (files []file, err error) {
	for _, program := range p.programs() {
		data, err := os.ReadFile(r.binary(p, program))
		if err != nil {
			return nil, err
		}
		files = append(files, file{dir + program + p.ending(), 0o755, data})
	}
	return files, nil
}

// source is a file of the project.
func (r *release) source(path, name string) (file, error) {
	data, err := os.ReadFile(filepath.Join(r.top, path))
	return file{name, 0o644, data}, err
}
