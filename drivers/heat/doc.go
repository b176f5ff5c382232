// Package heat makes VNFs on OpenStack: one Heat stack for each instance, from the base HOT of its package.
//
// # What a package holds
//
// The folder BaseHOT/FLAVOUR has one template (YAML) beside those that it refers to, there or in its folder
// nested; a file that get_file names is taken from there too. Nothing is fetched: a reference to
// an URL is refused, because Heat itself would fetch it. Templates are sent as they are.
//
// The parameter nfv, where the template declares it, has the form that Tacker's default user data gives it: what the
// template asks of it by {get_param: [nfv, ...]} is filled in from the descriptor, for VDU (computeFlavourId,
// vcImageId, desired_capacity), and everything else from the request's additionalParams.nfv, which is merged over it.
// Other parameters are the request's variables. What the template hides lies sealed with the instance, and no message
// repeats it.
//
// # The stack
//
// It is named vnf-INSTANCE and has the tag vimbroker.io/instance=INSTANCE. What of that name has not the tag is
// somebody else's, and is left alone. A stack that a killed worker began is found by its name, waited for, and
// updated to what it should be; Heat itself never keeps two of one name in a project.
//
// A VNFC is a resource, however deep in nested stacks, that has the name of a VDU; where that one is a group, its
// members are. The ports of the stack are the connection points of the servers that have them.
//
// # Limits
//
// What Heat itself does not know is not seen: a server that was deleted behind its back is found by HEAL, which
// has Heat check the stack, and not by the pass that looks for drift. A resource with a condition is not
// looked for. Reasons of failures are Heat's words, bounded, without values of the templates.
package heat
