package manifests

import "testing"

// Every expression compiles: a wrong one would end the process at its first use.
func TestExpressionsCompile(*testing.T) {
	webhookName()
	lacks()
	undeclared()
	indexed()
	strict()
	fieldName()
	reference()
	lineOf()
	kindName()
	versionName()
	pluralName()
	plainWord()
}
