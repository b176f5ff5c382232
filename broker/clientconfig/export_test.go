package clientconfig

// Path is the directory's, for tests.
func (d *Dir) Path() string { return d.path }
