package server

import (
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/cmd/vimbroker/console"
	"github.com/vimbroker/vimbroker/test/story"
)

func TestDatabaseConfigurationFaults(t *testing.T) {
	const canary = "pa55word-canary"
	open := story.WriteFile(t, "open", "postgres://u:"+canary+"@127.0.0.1/db", 0o644)
	plain := story.WriteFile(t, "plain", "postgres://u:"+canary+"@db.example/db", 0o600)
	wrong := story.WriteFile(t, "wrong", "postgres://u:"+canary+"@127.0.0.1:port/db", 0o600)
	for text, want := range map[string]string{
		"{}":                                   "",
		"{postgres: {}}":                       "database.postgres.dsnFile: must name a file",
		"{postgres: {dsn: x}}":                 "database.postgres.dsn (line 2): unknown key",
		"{sqlite: {}}":                         "database.sqlite (line 2): unknown key",
		"{postgres: {dsnFile: /x}}":            "database.postgres.dsnFile: open /x",
		"{postgres: {dsnFile: " + open + "}}":  "database.postgres.dsnFile: " + open + " can be read or changed by others",
		"{postgres: {dsnFile: " + plain + "}}": "sslmode=verify-full",
		"{postgres: {dsnFile: " + wrong + "}}": "connection string",
		"{postgres: {dsnFile: " + wrong + ", migrate: maybe}}": "database.postgres.migrate (line 2): must be true or false",
		"{postgres: {dsnFile: " + plain + ", maxConns: 3}}":    "maxConns: must be 8 or more",
	} {
		_, err := loadConfig(story.WriteFile(t, "c.yaml", "tokensFile: "+tokensFile(t)+"\ndatabase: "+text+"\n", 0o600), console.Environment{"HOME=/h"}, keep)
		switch {
		case want == "" && err != nil:
			t.Errorf("database: %s = %v", text, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("database: %s = %v, want %q", text, err, want)
		case err != nil && strings.Contains(err.Error(), canary):
			t.Errorf("database: %s tells the password: %v", text, err)
		}
	}
}
