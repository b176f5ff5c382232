package crash_test

import (
	"bytes"
	"fmt"

	"github.com/vimbroker/vimbroker/broker/api/sol003"
	v1 "github.com/vimbroker/vimbroker/broker/api/v1"
	"github.com/vimbroker/vimbroker/test/csar"
)

// secretVNFD is the descriptor of a package whose base HOT has a secret parameter, login.
const secretVNFD = "5f4a2c1e-93c5-4d0e-8d0f-7a35f1a40004"

// withHidingVNF is withVNF for that package.
func withHidingVNF(s *scene) {
	s.t.Helper()
	s.register("edge")
	content := csar.TackerHeatAs(secretVNFD, "parameters:\n  nfv:", "parameters:\n  login: {type: string, hidden: true}\n  nfv:").Zip(s.t)
	p, err := s.CreatePackage(s.ctx(), nil)
	if err == nil {
		err = s.UploadPackage(s.ctx(), p.ID, bytes.NewReader(content), int64(len(content)))
	}
	if err == nil {
		_, err = s.CreateVNF(s.ctx(), sol003.CreateVNFRequest{VNFDID: secretVNFD, Name: "vnf"})
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

func hidingStack(s *scene) sol003.InstantiateRequest {
	r := instantiation(s)
	r.Params.Variables = map[string]string{"login": "canary-of-the-crash-kit"}
	return r
}

func makeHidingStack(s *scene) error { return operate(s, "instantiate", hidingStack(s)) }

func withHidingStack(s *scene) {
	s.t.Helper()
	withHidingVNF(s)
	if err := makeHidingStack(s); err != nil {
		s.t.Fatal(err)
	}
}

// moveStack moves the instance to the VIM again.
func moveStack(s *scene) error {
	s.t.Helper()
	v, err := s.VIM(s.ctx(), "again")
	if err != nil {
		return err
	}
	_, err = s.ModifyVNF(s.ctx(), vnf(s).ID, sol003.ModifyRequest{VIMs: map[string]*sol003.VIMConnectionInfo{
		"vim": {VIMID: v.ID, VIMType: "ETSINFV.OPENSTACK_KEYSTONE.V_3"},
	}})
	return err
}

// forgetStack lets go of the instance.
func forgetStack(s *scene) error {
	s.t.Helper()
	return operate(s, "forget", struct{}{})
}

// allKept waits until so many secret parameters are kept, and none is anything else.
func allKept(s *scene, want int) {
	s.t.Helper()
	eventually(s.t, "secret parameters are kept or gone", func() error {
		var kept, others int
		err := s.query(`SELECT count(*) FROM vnf_secret_parameters WHERE state = 'active'`, &kept)
		if err == nil {
			err = s.query(`SELECT count(*) FROM vnf_secret_parameters WHERE state <> 'active'`, &others)
		}
		if err == nil && (kept != want || others != 0) {
			err = fmt.Errorf("%d are kept and %d are not, want %d and none", kept, others, want)
		}
		return err
	})
}

var (
	// sealingSecrets makes a stack with a secret parameter. Where the operation did not begin nothing is left of it, and it can be
	// begun again.
	sealingSecrets = scenario{
		name:    "instantiate a VNF with a secret parameter",
		prepare: withHidingVNF,
		act:     makeHidingStack,
		after: func(s *scene) {
			if _, err := newest(s); err != nil {
				allKept(s, 0)
				if err := makeHidingStack(s); err != nil {
					s.t.Fatal(err)
				}
			}
			allKept(s, 1)
			oneStack(s, 1)
			allKept(s, 0)
		},
	}

	// forgettingSecrets ends what needs the secret parameter.
	forgettingSecrets = scenario{
		name:    "terminate a VNF with a secret parameter",
		prepare: withHidingStack,
		act:     removingAStack.act,
		after: func(s *scene) {
			noStack(s)
			allKept(s, 0)
		},
	}

	// movingAStack has it be on another VIM of the same cloud: its secret parameter is sealed for that one, and not for both.
	movingAStack = scenario{
		name: "move a VNF with a secret parameter to another VIM",
		prepare: func(s *scene) {
			withHidingStack(s)
			s.register("again")
		},
		act: moveStack,
		after: func(s *scene) {
			allKept(s, 1)
			if err := moveStack(s); err != nil {
				s.t.Error(err)
			}
			if v, err := s.VIM(s.ctx(), "again"); err != nil || vnf(s).VIMs["vim"].VIMID != v.ID {
				s.t.Errorf("the instance is on %+v, want %s (%v)", vnf(s).VIMs, v.ID, err)
			}
			s.stop()
			s.restart() // whose passes remove what was abandoned before
			allKept(s, 1)
			if err := operate(s, "heal", sol003.HealRequest{}); err != nil {
				s.t.Error(err)
			}
			oneStack(s, 1)
			allKept(s, 0)
		},
	}

	// forgettingAStack lets go of an instance whose instantiation has failed: its stack is left, and nothing of it here.
	forgettingAStack = scenario{
		name: "forget a VNF with a secret parameter",
		prepare: func(s *scene) {
			withHidingVNF(s)
			heatOf(s).Hold(true)
			if err := cancelStack(s, hidingStack(s)); err != nil {
				s.t.Fatal(err)
			}
			heatOf(s).Hold(false)
		},
		act: forgetStack,
		after: func(s *scene) {
			if vnf(s).State == "INSTANTIATED" {
				if err := forgetStack(s); err != nil {
					s.t.Error(err)
				}
			}
			if o, err := newest(s); err != nil || o.State != "COMPLETED" || o.Own == nil || len(o.Own.Steps) == 0 {
				s.t.Errorf("the operation that forgets is %+v, %v", o, err)
			}
			if s.leaves = true; len(heatOf(s).Stacks()) != 1 {
				s.t.Errorf("on the cloud there is %q, want the stack that was left", heatOf(s).Stacks())
			}
			s.stop()
			s.restart() // whose passes remove what was abandoned before
			allKept(s, 0)
			if err := s.DeleteVNF(s.ctx(), vnf(s).ID); err != nil {
				s.t.Error(err)
			}
		},
	}

	// rekeyingSecretParameters seals it anew; what is left half done is settled, and opens.
	rekeyingSecretParameters = scenario{
		name:    "rekey a VIM with a VNF that has a secret parameter",
		prepare: withHidingStack,
		act: func(s *scene) error {
			_, err := s.RotateVIM(s.ctx(), "edge", v1.Rotation{}, 0)
			return err
		},
		after: func(s *scene) {
			allKept(s, 1)
			if err := operate(s, "heal", sol003.HealRequest{}); err != nil {
				s.t.Error(err)
			}
			if _, err := s.RotateVIM(s.ctx(), "edge", v1.Rotation{}, 0); err != nil {
				s.t.Error(err)
			}
			allKept(s, 1)
			oneStack(s, 1)
		},
	}
)
