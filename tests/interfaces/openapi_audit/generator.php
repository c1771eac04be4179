<?php
// Processes an order from its creation to its delivery, with the client that openapi-generator generates for PHP (Guzzle).

error_reporting(E_ALL & ~E_DEPRECATED); // Debian's Guzzle is older than its PHP
require 'GuzzleHttp/autoload.php';
require 'GuzzleHttp/Psr7/autoload.php';
spl_autoload_register(function (string $name): void {
    $prefix = 'OpenAPI\\Client\\';
    if (str_starts_with($name, $prefix)) {
        require __DIR__ . '/php/lib/' . str_replace('\\', '/', substr($name, strlen($prefix))) . '.php';
    }
});

use OpenAPI\Client\Api\SalesOrdersApi;
use OpenAPI\Client\ApiException;
use OpenAPI\Client\Configuration;
use OpenAPI\Client\Model\SalesOrderChanges;
use OpenAPI\Client\Model\SalesOrderFields;
use OpenAPI\Client\Model\SalesOrderLineFields;
use OpenAPI\Client\Model\ShipTo;

[, $host, $token, $company] = $argv;
$orders = new SalesOrdersApi(null, (new Configuration())->setHost($host)->setAccessToken($token));

$order = $orders->createSalesOrder((int) $company, new SalesOrderFields([
    'partner_id' => 1,
    'warehouse_id' => 1,
    'external_ref' => 'OG-PHP',
    'requested_date' => new DateTime('2026-12-01'),
    'ship_to' => new ShipTo(['city' => 'Cluj-Napoca']),
    'lines' => [new SalesOrderLineFields(['article_code' => 'A', 'quantity' => 2.5])],
]), null, 'generator-php');
foreach (['IN_LUCRU', 'INCARCAT', 'LIVRAT'] as $status) {
    $orders->updateSalesOrder($order->getId(), (int) $company, new SalesOrderChanges(['status' => $status]));
}
$shown = $orders->getSalesOrder($order->getId(), (int) $company);
try {
    $orders->getSalesOrder(999, (int) $company);
} catch (ApiException $error) {
    if ($error->getCode() === 404 && $shown->getShipTo()->getCity() === 'Cluj-Napoca') {
        echo $shown->getCode(), ' ', $shown->getStatus(), "\n";
    }
}
