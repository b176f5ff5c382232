package console

import (
	"testing"
	"time"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

func TestTimesAreToldAsPeopleDo(t *testing.T) {
	p := &Console{Now: func() time.Time { return noon }}
	for d, want := range map[time.Duration]string{
		0: "now", 900 * time.Millisecond: "now", time.Second: "in 1s", -59 * time.Second: "59s ago", 90 * time.Second: "in 2m",
		59*time.Minute + 59*time.Second: "in 60m", 3 * time.Hour: "in 3h", -47 * time.Hour: "2d ago", 30 * 24 * time.Hour: "in 30d",
	} {
		if got := p.When(noon.Add(d)); got != want {
			t.Errorf("when(now%+v) = %q, want %q", d, got, want)
		}
	}
	if got := p.When(time.Time{}); got != "" {
		t.Errorf("when(never) = %q, want nothing", got)
	}
	zone := time.FixedZone("far", 14*3600)
	if got, want := p.Moment(noon.Add(time.Hour).In(zone)), "in 60m (2026-11-20T13:00:00Z)"; got != want {
		t.Errorf("moment in another zone = %q, want %q", got, want)
	}
}
