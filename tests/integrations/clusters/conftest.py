"""Settings of Spark for all tests: a machine that does much else starts processes slowly."""

import os

_SETTINGS = {
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.network.timeout": "600s",
    "spark.python.authenticate.socketTimeout": "300s",
    "spark.scheduler.maxRegisteredResourcesWaitingTime": "300s",
    "spark.scheduler.minRegisteredResourcesRatio": "1.0",  # nothing begins before all are there
    "spark.ui.enabled": "false",
}

os.environ["PYSPARK_SUBMIT_ARGS"] = " ".join(
    [*(f"--conf {name}={value}" for name, value in _SETTINGS.items()), "pyspark-shell"]
)
