// Package vnfpkgm is the door of ETSI's VNF package management: ETSI GS NFV-SOL 003
// clause 10 (list, show, VNFD, manifest, content, artifacts), and of ETSI GS NFV-SOL 005
// clause 9 what fills the catalogue (create, upload, enable, disable, delete).
//
// Version 2 is served as the OpenAPI document of SOL003 3.3.1 has it. Version 1 differs in
// the forms of a few attributes, and looks at no header Version, as clients of OpenStack
// Tacker send none. An upload is looked through before it is answered, so that a fault of
// the package is a problem of the upload, and the package is onboarded when 202 is answered.
// Subscriptions and uploads from a URI are not served.
package vnfpkgm
