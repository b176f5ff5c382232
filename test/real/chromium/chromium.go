// Package chromium drives a real Chromium. It is a package of its own, so that tests of other real systems
// do not link what it takes.
package chromium

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/vimbroker/vimbroker/test/process"
	"github.com/vimbroker/vimbroker/test/real"
)

// Browser is a real Chromium, used as a person does: by what things are (role) and are called (name).
type Browser struct {
	t   testing.TB
	ctx context.Context
	axe string
}

// New starts one, and stops it when the test ends.
func New(t testing.TB) *Browser {
	t.Helper()
	program, axe := real.Chromium(t)
	text, err := os.ReadFile(axe)
	if err != nil {
		t.Fatal(err)
	}
	// The tests run as root, and see no page but those of their own server.
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.NoSandbox, chromedp.ExecPath(program),
		chromedp.WSURLReadTimeout(process.Patience))
	all, end := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(end)
	ctx, end := chromedp.NewContext(all)
	t.Cleanup(end)
	ctx, end = context.WithTimeout(ctx, 15*time.Minute)
	t.Cleanup(end)
	b := &Browser{t: t, ctx: ctx, axe: string(text)}
	b.Run()
	return b
}

// Run runs actions of the browser.
func (b *Browser) Run(actions ...chromedp.Action) {
	b.t.Helper()
	if err := chromedp.Run(b.ctx, actions...); err != nil {
		b.t.Fatal(err)
	}
}

// Context is the browser's.
func (b *Browser) Context() context.Context { return b.ctx }

// Open opens an address.
func (b *Browser) Open(url string) {
	b.t.Helper()
	b.Run(chromedp.Navigate(url))
}

// find returns the one thing of a role and a name.
func (b *Browser) find(role, name string) (found *accessibility.Node) {
	b.t.Helper()
	b.Run(chromedp.ActionFunc(func(ctx context.Context) error {
		root, _, err := runtime.Evaluate(`document.documentElement`).Do(ctx)
		if err != nil {
			return err
		}
		all, err := accessibility.QueryAXTree().WithObjectID(root.ObjectID).WithRole(role).WithAccessibleName(name).Do(ctx)
		if err == nil && len(all) == 0 {
			err = fmt.Errorf("the page has no %s %q", role, name)
		}
		if err == nil {
			found = all[0]
		}
		return err
	}))
	return found
}

// See fails unless the page has a thing of a role and a name.
func (b *Browser) See(role, name string) {
	b.t.Helper()
	b.find(role, name)
}

// Follow clicks what leads to another page, and waits until that is there.
func (b *Browser) Follow(role, name string) {
	b.t.Helper()
	node := b.find(role, name)
	_, err := chromedp.RunResponse(b.ctx, chromedp.ActionFunc(func(ctx context.Context) error {
		if err := dom.ScrollIntoViewIfNeeded().WithBackendNodeID(node.BackendDOMNodeID).Do(ctx); err != nil {
			return err
		}
		if err := dom.Focus().WithBackendNodeID(node.BackendDOMNodeID).Do(ctx); err != nil {
			return err
		}
		return chromedp.KeyEvent("\r").Do(ctx) // the keyboard is enough for everything
	}))
	if err != nil {
		b.t.Fatalf("following %s %q: %v", role, name, err)
	}
}

// Type writes into a field.
func (b *Browser) Type(name, text string) {
	b.t.Helper()
	node := b.find("textbox", name)
	b.Run(dom.Focus().WithBackendNodeID(node.BackendDOMNodeID), input.InsertText(text))
}

// Eval evaluates script, whatever the page's own policy is.
func (b *Browser) Eval(script string, to any) {
	b.t.Helper()
	b.Run(chromedp.Evaluate(script, to, func(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }))
}

// Text is what the page says.
func (b *Browser) Text() (text string) {
	b.t.Helper()
	b.Eval(`document.body.innerText`, &text)
	return text
}

// Violations are what axe-core finds of WCAG 2.2 A and AA.
func (b *Browser) Violations() (all []string) {
	b.t.Helper()
	b.Run(chromedp.ActionFunc(func(ctx context.Context) error {
		_, thrown, err := runtime.Evaluate(b.axe).Do(ctx)
		if err == nil && thrown != nil {
			err = thrown
		}
		return err
	}))
	b.Eval(`axe.run(document, {runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}).then(r =>
		r.violations.map(v => v.id + ": " + v.nodes.map(n => n.target.join(" ") + " " + n.failureSummary).join("; ")))`, &all)
	return all
}

// Picture is one of the whole page, at a width and in a scheme.
func (b *Browser) Picture(width int64, scheme string) (webp []byte) {
	b.t.Helper()
	b.Look(width, scheme)
	b.Run(chromedp.ActionFunc(func(ctx context.Context) (err error) {
		webp, err = page.CaptureScreenshot().WithFormat(page.CaptureScreenshotFormatWebp).WithQuality(60).WithCaptureBeyondViewport(true).Do(ctx)
		return err
	}))
	return webp
}

// Look sets the width and the scheme that the page is seen in.
func (b *Browser) Look(width int64, scheme string) {
	b.t.Helper()
	b.Run(chromedp.EmulateViewport(width, 800), emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{
		{Name: "prefers-color-scheme", Value: scheme},
	}))
}
