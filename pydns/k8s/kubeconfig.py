"""The way to an API that a kubeconfig file names.

The only file that imports `kubernetes`, and only when there is such a file: it takes a third of a second and 20 MB.  Of
it is used the reading of kubeconfig files and the renewal of their credentials; not its models and its HTTP session,
nor what it makes of `exec` plugins: where one fails, it goes on without credentials.  Does not know HTTP (`client`).
"""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

import yaml

from pydns.k8s.access import Access, RenewableAccess, Tls
from pydns.k8s.exec_plugin import ExecPlugin

FAULTS: Final = (yaml.YAMLError, TypeError, AttributeError, KeyError)
"""What a file that is no kubeconfig raises, beside OSError, ValueError and the library's own ConfigException."""


async def by_kubeconfig(file: str, context: str) -> RenewableAccess:
    """The file's `context`, by default its current one; raises OSError and ValueError where it makes no sense.

    When the credentials are renewed, an `exec` plugin is run and a token file read again.
    """
    from kubernetes.aio.client import Configuration
    from kubernetes.aio.config import ConfigException
    from kubernetes.aio.config.kube_config import KubeConfigLoader

    # A copy of the process-wide default is not wanted: each server block has its own connection.
    configuration = Configuration()
    try:
        config = read_kubeconfig(Path(file))
        loader = KubeConfigLoader(config, context or None, config_base_path=os.path.dirname(os.path.abspath(file)))
        plugin = take_exec_plugin(user_of(config, context or None))
        loader.set_active_context(context or None)
        await loader.load_and_set(configuration)
        known = await access_of(configuration)
    except (ConfigException, *FAULTS) as error:
        raise ValueError(str(error)) from error

    async def renew() -> Access:
        try:
            await loader.load_and_set(configuration)
            if plugin is not None:
                await ask(plugin, configuration)
            return await access_of(configuration)
        except (ConfigException, *FAULTS) as error:
            raise ValueError(str(error)) from error

    return known, renew


async def access_of(configuration: Any) -> Access:
    token = (await configuration.auth_settings()).get("BearerToken")
    tls = Tls(
        configuration.ssl_ca_cert,
        configuration.cert_file,
        configuration.key_file,
        configuration.verify_ssl,
        configuration.tls_server_name,
    )
    return Access(configuration.host, tls, token["value"].strip() if token else "", configuration.proxy)


def read_kubeconfig(path: Path) -> dict[str, Any]:
    try:
        config = yaml.safe_load(path.read_bytes())
    except OSError as error:
        raise ValueError((error.strerror or str(error)).lower())
    if config is None:
        raise ValueError("it is empty")
    if not isinstance(config, dict):
        raise ValueError("no kubeconfig: a mapping with clusters, users and contexts is needed")
    return config


def user_of(config: dict[str, Any], context: str | None) -> dict[str, Any]:
    """The context's user; raises ValueError where there is none of that name: the loader would ask as nobody.

    A context that names no user gets one without credentials, for the loader cannot do without.
    """
    chosen = named(config["contexts"], context or config["current-context"])["context"]
    users = config["users"] = config.get("users") or []
    if not chosen.get("user"):
        chosen["user"] = "(none)"
        users.append({"name": "(none)", "user": {}})
    user = named(users, chosen["user"])
    if not user:
        raise ValueError(f"the context's user '{chosen['user']}' is not among its users")
    return user


def take_exec_plugin(user: dict[str, Any]) -> ExecPlugin | None:
    """The user's `exec` plugin, taken out of what the loader reads."""
    spec = (user["user"] or {}).pop("exec", None)
    return None if spec is None else ExecPlugin(spec)


def named(entries: Iterable[dict[str, Any]], name: str) -> dict[str, Any]:
    return next((entry for entry in entries if entry["name"] == name), {})


async def ask(plugin: ExecPlugin, configuration: Any) -> None:
    """Put a plugin's credentials into the configuration; raises CredentialsError."""
    from kubernetes.aio.config.kube_config import FileOrData

    credentials = await plugin.credentials()
    if credentials.token:
        configuration.api_key["BearerToken"] = f"Bearer {credentials.token}"
    if credentials.client_certificate_data:
        pem = f"{credentials.client_certificate_data}\n{credentials.client_key_data}\n"
        configuration.cert_file = FileOrData({"pem-data": pem}, "pem", base64_file_content=False).as_file()
        configuration.key_file = None
