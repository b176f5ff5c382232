"""Nova's API, conductor, scheduler and compute service in one process: they talk to
one another in its memory, and need no message broker.

The fake hypervisor boots at once, but for servers of the flavor "slow": those build
until they are deleted, or for ten minutes."""
import sys
import time

sys.argv[0] = 'nova'
import nova.cmd  # noqa: E402,F401  eventlet's patches come first
import os_vif  # noqa: E402
from oslo_log import log as logging  # noqa: E402
from oslo_service import service as launch  # noqa: E402
from nova import config, objects, service  # noqa: E402
from nova.compute import rpcapi as compute  # noqa: E402
from nova.conductor import rpcapi as conductor  # noqa: E402
from nova.scheduler import rpcapi as scheduler  # noqa: E402
from nova.virt import fake  # noqa: E402
import nova.conf  # noqa: E402

spawn = fake.FakeDriver.spawn


def spawn_in_time(self, context, instance, *args, **kwargs):
    end = time.time() + 600
    while instance.flavor.name == 'slow' and time.time() < end:
        time.sleep(0.2)
        instance.refresh()
        if instance.task_state == 'deleting':
            break
    return spawn(self, context, instance, *args, **kwargs)


fake.FakeDriver.spawn = spawn_in_time

config.parse_args(sys.argv)
logging.setup(nova.conf.CONF, 'nova')
objects.register_all()
os_vif.initialize()
objects.Service.enable_min_version_cache()
launcher = launch.ServiceLauncher(nova.conf.CONF, restart_method='mutate')
for binary, topic in (('nova-conductor', conductor.RPC_TOPIC), ('nova-scheduler', scheduler.RPC_TOPIC),
                      ('nova-compute', compute.RPC_TOPIC)):
    launcher.launch_service(service.Service.create(binary=binary, topic=topic))
launcher.launch_service(service.WSGIService('osapi_compute'))
launcher.wait()
